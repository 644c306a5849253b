"""Slash commands on the loopback Discord: interactions with their one answer and its follow-ups.

Source: the interactions pages of Discord's developer documentation: one callback within 3 s,
the token is good for 15 min.
"""

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.wire.discord_rest import Rest, answer, refusal
from tests.wire.discord_world import DM, EPHEMERAL, Channel, Payload, User, World, snowflake

ACK_WITHIN_S = 3.0
STRING, INTEGER, BOOLEAN, NUMBER, SUB_COMMAND = 3, 4, 5, 10, 1
_TYPES = {str: STRING, bool: BOOLEAN, int: INTEGER, float: NUMBER}


@dataclass(slots=True, kw_only=True, eq=False)
class Interaction:
    """One use of a slash command, and what came back."""

    channel: Channel
    user: User
    payload: Payload
    made_at_s: float = field(default_factory=time.monotonic)
    callback: Payload | None = None
    called_back_at_s: float = 0.0
    expired: bool = False
    sign_gone: bool = False
    """Whether the first answer, or the sign in its place, was deleted."""
    replies: list[Payload] = field(default_factory=list)
    """What the person sees, in order; `flags` 64 is for their eyes only."""
    acknowledged: asyncio.Event = field(default_factory=asyncio.Event)
    answered: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def ephemeral(self) -> bool:
        """Whether the first answer is for the person's own eyes."""
        data = (self.callback or {}).get("data") or {}
        return bool(data.get("flags", 0) & EPHEMERAL)

    async def texts(self, n: int = 1, *, timeout_s: float = 5.0) -> list[str]:
        """The texts of the first `n` replies, as soon as there are that many."""
        async with asyncio.timeout(timeout_s):
            while len(self.replies) < n:
                self.answered.clear()
                await self.answered.wait()
        return [reply["content"] for reply in self.replies]


class Interactions:
    """Every interaction by its token."""

    def __init__(self, world: World, rest: Rest) -> None:
        self._world = world
        self._rest = rest
        self._by_token: dict[str, Interaction] = {}

    def make(
        self, channel: Channel, user: User, command: str, options: dict[str, Any], language: str
    ) -> Interaction:
        """A use of `command` (`help`, or `admin reset` for a subcommand)."""
        token = f"interaction-{snowflake()}"
        made = Interaction(
            channel=channel,
            user=user,
            payload={
                "id": snowflake(),
                "application_id": self._world.bot.id,
                "type": 2,
                "token": token,
                "version": 1,
                "attachment_size_limit": 10_000_000,
                "channel": channel.payload(),
                "channel_id": channel.id,
                "locale": language,
                "data": self._data(command, options),
                "entitlements": [],
                "authorizing_integration_owners": {},
                "context": 1 if channel.type == DM else 0,
            }
            | self._person(channel, user),
        )
        self._by_token[token] = made
        return made

    def _data(self, command: str, options: dict[str, Any]) -> Payload:
        name, _, verb = command.partition(" ")
        given = [
            {"name": key, "type": _TYPES[type(value)], "value": value}
            for key, value in options.items()
        ]
        if verb:
            given = [{"name": verb, "type": SUB_COMMAND, "options": given}]
        known = next((c["id"] for c in self._rest.commands if c["name"] == name), snowflake())
        return {"id": known, "name": name, "type": 1, "options": given}

    @staticmethod
    def _person(channel: Channel, user: User) -> Payload:
        if channel.guild is None:
            return {"user": user.payload()}
        member = channel.guild.member(user) | {"user": user.payload(), "permissions": "0"}
        return {"guild_id": channel.guild.id, "guild_locale": "en-US", "member": member}

    # --- the protocol

    def routes(self) -> list[web.RouteDef]:
        hook = "/webhooks/{app}/{token}"
        return [
            web.post("/interactions/{id}/{token}/callback", self._callback),
            web.post(hook, self._follow_up),
            web.get(hook + "/messages/@original", self._original),
            web.patch(hook + "/messages/@original", self._edit_original),
            web.delete(hook + "/messages/@original", self._delete_original),
        ]

    def _found(self, request: web.Request) -> Interaction:
        found = self._by_token.get(request.match_info["token"])
        if found is None:
            raise refusal(404, 10015, "Unknown Webhook")
        if found.expired:
            raise refusal(401, 50027, "Invalid Webhook Token")
        return found

    async def _callback(self, request: web.Request) -> web.Response:
        found, now_s = self._found(request), time.monotonic()
        if found.callback is not None:
            raise refusal(400, 40060, "Interaction has already been acknowledged.")
        if now_s - found.made_at_s > ACK_WITHIN_S:
            raise refusal(404, 10062, "Unknown interaction")
        found.callback, found.called_back_at_s = await request.json(), now_s
        found.acknowledged.set()
        if found.callback["type"] == 4:
            self._reply(found, found.callback["data"])
        about = {"id": found.payload["id"], "type": 2, "response_message_loading": True}
        return answer({"interaction": about | {"response_message_ephemeral": found.ephemeral}})

    def _reply(self, found: Interaction, body: Payload) -> Payload:
        self._rest.check_content(body)
        flags = body.get("flags", 0)
        if not found.replies and not found.sign_gone:
            # The first follow-up takes the place of the sign, and is as visible as that was.
            flags = EPHEMERAL if found.ephemeral else flags & ~EPHEMERAL
        if flags & EPHEMERAL:
            # Lives outside the channel: nobody else can fetch it.
            aside = Channel(name="", type=DM, id=found.channel.id)
            message = self._world.message(aside, self._world.bot, body["content"], flags=flags)
        else:
            message = self._rest.store(found.channel, body | {"flags": flags})
        found.replies.append(message)
        found.answered.set()
        return message

    async def _follow_up(self, request: web.Request) -> web.Response:
        found = self._found(request)
        if found.callback is None:
            raise refusal(404, 10015, "Unknown Webhook")
        return answer(self._reply(found, await request.json()))

    async def _original(self, request: web.Request) -> web.Response:
        found = self._found(request)
        if not found.replies:
            raise refusal(404, 10008, "Unknown Message")
        return answer(found.replies[0])

    async def _edit_original(self, request: web.Request) -> web.Response:
        found, body = self._found(request), await request.json()
        if not found.replies:
            return answer(self._reply(found, body))
        self._rest.check_content(body)
        found.replies[0]["content"] = body["content"]
        return answer(found.replies[0])

    async def _delete_original(self, request: web.Request) -> web.Response:
        found = self._found(request)
        if found.replies:
            found.replies.pop(0)
        found.sign_gone = True
        return web.Response(status=204)
