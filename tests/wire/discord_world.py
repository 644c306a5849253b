"""What the loopback Discord holds: users, guilds, channels, messages, as plain values and JSON payloads."""

import itertools
import re
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

Payload = dict[str, Any]

EPOCH_MS = 1_420_070_400_000
TEXT, DM, FORUM, PUBLIC_THREAD = 0, 1, 15, 11
DEFAULT, REPLY = 0, 19
EPHEMERAL = 64

_numbers = itertools.count(1)
_USER_MENTION = re.compile(r"<@!?(\d+)>")
_ROLE_MENTION = re.compile(r"<@&(\d+)>")


def snowflake(age_s: float = 0.0) -> str:
    """A fresh id whose time lies `age_s` in the past; ids of one process only grow at equal age."""
    ms = int((time.time() - age_s) * 1000) - EPOCH_MS
    return str((ms << 22) | (next(_numbers) & 0x3FFFFF))


def timestamp(id_: str) -> str:
    moment = datetime.fromtimestamp(((int(id_) >> 22) + EPOCH_MS) / 1000, UTC)
    return moment.isoformat(timespec="microseconds")


@dataclass(slots=True, kw_only=True)
class User:
    name: str
    id: str = field(default_factory=snowflake)
    bot: bool = False
    nick: str | None = None
    closed: bool = False
    """Takes no direct messages from the bot (error 50007)."""

    @property
    def mention(self) -> str:
        return f"<@{self.id}>"

    def payload(self) -> Payload:
        return {
            "id": self.id,
            "username": self.name.lower(),
            "global_name": self.name,
            "discriminator": "0",
            "avatar": None,
            "bot": self.bot,
            "public_flags": 0,
        }


@dataclass(slots=True, kw_only=True)
class Channel:
    name: str
    type: int = TEXT
    id: str = field(default_factory=snowflake)
    guild: "Guild | None" = None
    parent: "Channel | None" = None
    recipient: User | None = None
    messages: list[Payload] = field(default_factory=list)
    archived: bool = False
    locked: bool = False
    forbidden: bool = False
    """The bot may not write here (error 50013)."""

    def payload(self) -> Payload:
        last = self.messages[-1]["id"] if self.messages else None
        base = {"id": self.id, "type": self.type, "name": self.name, "last_message_id": last}
        if self.type == DM:
            return base | {"recipients": [self.recipient.payload()] if self.recipient else []}
        assert self.guild is not None
        base |= {"guild_id": self.guild.id, "parent_id": self.parent.id if self.parent else None}
        if self.type == PUBLIC_THREAD:
            return base | self._thread_part()
        return base | {
            "position": 0,
            "permission_overwrites": [],
            "topic": None,
            "nsfw": False,
            "rate_limit_per_user": 0,
            "available_tags": [],
        }

    def _thread_part(self) -> Payload:
        return {
            "owner_id": self.messages[0]["author"]["id"] if self.messages else self.id,
            "message_count": len(self.messages),
            "member_count": 2,
            "rate_limit_per_user": 0,
            "thread_metadata": {
                "archived": self.archived,
                "auto_archive_duration": 1440,
                "archive_timestamp": timestamp(self.id),
                "locked": self.locked,
            },
        }


@dataclass(slots=True, kw_only=True)
class Guild:
    name: str
    bot: User
    id: str = field(default_factory=snowflake)
    channels: list[Channel] = field(default_factory=list)
    roles: dict[str, str] = field(default_factory=dict)
    """Names by role id."""
    members: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Role ids by user id."""
    bot_role: str = field(default_factory=snowflake)

    def channel(self, name: str) -> Channel:
        return next(c for c in self.channels if c.name == name)

    def role(self, name: str) -> str:
        """A new role's id."""
        id_ = snowflake()
        self.roles[id_] = name
        return id_

    def member(self, user: User) -> Payload:
        """The member object as a message event carries it: without the user."""
        return {
            "roles": list(self.members.get(user.id, ())),
            "nick": user.nick,
            "joined_at": timestamp(self.id),
            "deaf": False,
            "mute": False,
            "flags": 0,
        }

    def payload(self) -> Payload:
        roles = [
            _role(self.id, "@everyone"),
            _role(self.bot_role, self.bot.name)
            | {"managed": True, "tags": {"bot_id": self.bot.id}},
            *(_role(id_, name) for id_, name in self.roles.items()),
        ]
        me = self.member(self.bot) | {"roles": [self.bot_role], "user": self.bot.payload()}
        threads = [c for c in self.channels if c.type == PUBLIC_THREAD and not c.archived]
        return {
            "id": self.id,
            "name": self.name,
            "unavailable": False,
            "owner_id": self.bot.id,
            "member_count": len(self.members) + 1,
            "large": False,
            "roles": roles,
            "members": [me],
            "channels": [c.payload() for c in self.channels if c.type != PUBLIC_THREAD],
            "threads": [c.payload() for c in threads],
            "preferred_locale": "en-US",
            "emojis": [],
            "stickers": [],
            "features": [],
            "voice_states": [],
            "presences": [],
        }


def _role(id_: str, name: str) -> Payload:
    return {
        "id": id_,
        "name": name,
        "color": 0,
        "hoist": False,
        "position": 0,
        "permissions": "0",
        "managed": False,
        "mentionable": True,
        "flags": 0,
    }


@dataclass(slots=True)
class World:
    """Everything there is, found by id."""

    bot: User
    users: dict[str, User] = field(default_factory=dict)
    guilds: dict[str, Guild] = field(default_factory=dict)
    channels: dict[str, Channel] = field(default_factory=dict)

    def add(self, channel: Channel) -> Channel:
        self.channels[channel.id] = channel
        if channel.guild is not None:
            channel.guild.channels.append(channel)
        return channel

    def direct(self, user: User) -> Channel:
        """The DM channel with a user, opened when there is none."""
        for channel in self.channels.values():
            if channel.recipient is user:
                return channel
        return self.add(Channel(name="", type=DM, recipient=user))

    def message(
        self, channel: Channel, author: User, text: str, *, id_: str | None = None, **more: Any
    ) -> Payload:
        """A stored message of the channel; `more` overrides fields of the payload."""
        id_ = id_ or snowflake()
        payload: Payload = {
            "id": id_,
            "type": DEFAULT,
            "channel_id": channel.id,
            "content": text,
            "author": author.payload(),
            "timestamp": timestamp(id_),
            "edited_timestamp": None,
            "tts": False,
            "mention_everyone": False,
            "mentions": self._mentioned(text),
            "mention_roles": _ROLE_MENTION.findall(text),
            "attachments": [],
            "embeds": [],
            "pinned": False,
            "flags": 0,
            "components": [],
        } | more
        channel.messages.append(payload)
        channel.messages.sort(key=lambda message: int(message["id"]))
        return payload

    def _mentioned(self, text: str) -> list[Payload]:
        ids = dict.fromkeys(_USER_MENTION.findall(text))
        return [self.users[id_].payload() for id_ in ids if id_ in self.users]

    def find(self, channel: Channel, message: str) -> Payload | None:
        return next((m for m in channel.messages if m["id"] == message), None)

    def seen(self, message: Payload, *, content_intent: bool) -> Payload:
        """The message as the bot may read it: without the intent, only what is meant for it."""
        meant = (
            content_intent
            or self.channels[message["channel_id"]].type == DM
            or message["author"]["id"] == self.bot.id
            or any(user["id"] == self.bot.id for user in message["mentions"])
        )
        return message if meant else message | {"content": "", "attachments": [], "embeds": []}

    def event(self, message: Payload) -> Payload:
        """The message as MESSAGE_CREATE carries it: with guild and member."""
        guild = self.channels[message["channel_id"]].guild
        if guild is None:
            return message
        author = self.users.get(message["author"]["id"])
        member = {"member": guild.member(author)} if author is not None else {}
        return message | {"guild_id": guild.id} | member
