"""What crosses between the service and the platforms: values, and the Protocols that carry them.

Adapters implement `ChatAdapter` and call up through `Intake` and `CommandRunner`, which the
composition root fills. Ids are strings end to end.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from secrets import compare_digest
from typing import NewType, Protocol

from memory.values import PersonId, SessionId

Platform = NewType("Platform", str)
"""Where people chat, by the name of its manifest."""

CONSOLE = Platform("console")
"""This machine's own terminal: no service connects to it."""


class ChatKind(StrEnum):
    """Whether others read along."""

    DIRECT = "direct"
    GROUP = "group"


class Secret:
    """A token or password that no log line, traceback or repr shows."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The value itself: only to hand it to the library that needs it."""
        return self._value

    def __repr__(self) -> str:
        return "***"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and compare_digest(
            self._value.encode(), other._value.encode()
        )

    def __hash__(self) -> int:
        return hash(self._value)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRef:
    """A place to which a reply can be sent."""

    platform: Platform
    bot: str
    """Our own account's id on the platform: two bots in one place are two places."""
    chat: str
    """Telegram chat id; Discord channel, thread or DM channel id; the console's session name."""
    kind: ChatKind
    topic: str | None = None
    """Telegram forum topic (`message_thread_id` where `is_topic_message`)."""
    parent: str | None = None
    """Discord: the channel that a thread or forum post belongs to."""
    guild: str | None = None
    """Discord: the server's id."""
    title: str = ""
    """Shown to people in lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Who wrote a message."""

    person: PersonId
    name: str
    """As shown at the time."""
    roles: tuple[str, ...] = ()
    """Discord role ids."""
    language: str | None = None
    """The client's language tag where the platform gives it (`zh-TW`, `en`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbound:
    """A message that a person wrote, in our own terms."""

    chat: ChatRef
    author: Author
    message: str
    """The platform's message id, unique in its chat."""
    text: str
    """What was written, without the mention of the bot; already free of lone surrogates."""
    sent_at_ns: int
    addressed: bool
    """Whether the bot is spoken to: a direct chat, a mention, a reply to the bot, a command."""
    reply_to: str | None = None
    """Platform id of the message that it replies to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandCall:
    """A command that a person gave, as text or through the platform's own interface."""

    chat: ChatRef
    author: Author
    name: str
    """Without the slash, lower case; a group and its verb are joined by a space: `admin reset`."""
    arguments: Mapping[str, str] = field(default_factory=dict)
    """By the option's name; what was not given is absent."""
    typed: str | None = None
    """What followed the name where it was typed; None through the platform's own interface."""
    urgent: bool = False
    """As in `CommandSpec`."""

    @property
    def aloud(self) -> bool:
        """Typed where others read along: the answer cannot be kept from them."""
        return self.typed is not None and self.chat.kind is ChatKind.GROUP


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandAnswer:
    """What a command answers."""

    text: str
    private: bool = False
    """Only for the eyes of who asked, where the platform can do that (Discord: ephemeral)."""


class OptionKind(StrEnum):
    """What a command's option takes."""

    TEXT = "text"
    """A word, or several in quotation marks."""
    LINE = "line"
    """Text to the end of the line, as it stands; only a command's last option."""
    INTEGER = "integer"
    FLAG = "flag"
    """`true` or `false` in `CommandCall.arguments`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandOption:
    """One option of a command, as the platforms' own interfaces show it."""

    name: str
    """1 to 32 of `a-z 0-9 _`."""
    descriptions: Mapping[str, str]
    """By language tag (`en`, `zh-TW`), at most 100 characters; `en` is always there."""
    kind: OptionKind = OptionKind.TEXT
    required: bool = False
    choices: tuple[str, ...] = ()
    """Only for TEXT: nothing else may be given. At most 25."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandGroup:
    """What several commands have before their names: `admin` in `/admin reset`."""

    name: str
    descriptions: Mapping[str, str]
    """As in `CommandOption`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandSpec:
    """A command as the platforms' own interfaces offer it. Rights are checked where it runs."""

    name: str
    """Without the slash: 1 to 32 of `a-z 0-9 _`, which both platforms take."""
    descriptions: Mapping[str, str]
    """As in `CommandOption`."""
    group: CommandGroup | None = None
    """All of a group's commands agree on `admin_only`, `in_direct` and `in_guild`."""
    options: tuple[CommandOption, ...] = ()
    private: bool = False
    """The answer is for the eyes of who asked (Discord: ephemeral)."""
    admin_only: bool = False
    """Hidden from most, where the platform can do that."""
    beyond: bool = False
    """It shows more than the conversation that it is given in: not where others read along."""
    urgent: bool = False
    """It does not wait behind the turns of its conversation: a `/stop` that waited stops nothing."""
    in_direct: bool = True
    """Offered in direct chats."""
    in_guild: bool = True
    """Offered in groups and servers."""

    @property
    def path(self) -> str:
        """The name as `CommandCall.name` has it: `admin reset`."""
        return f"{self.group.name} {self.name}" if self.group else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """How far a stream of platform events has been taken in.

    Telegram: one stream `updates`, position is the next offset. Discord: a stream per channel
    id, position is the last message id seen.
    """

    platform: Platform
    bot: str
    stream: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantined:
    """An update that could not be understood; kept out of the way so that the rest flows.

    It holds ids and the kind of fault, never the update's text: nobody checked whether its
    sender may speak.
    """

    platform: Platform
    bot: str
    update: str
    fault: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outbound:
    """One part of a reply, small enough for its platform."""

    chat: ChatRef
    text: str
    reply_to: str | None
    """Platform id of the message that it answers; only on a reply's first part."""
    nonce: str
    """Deterministic from the outbox row, at most 25 characters: sent again after a crash it is
    the same, so that a platform that knows nonces can drop the second."""


class Intake(Protocol):
    """Where adapters hand in what they received; all of a call is one transaction."""

    async def accept(
        self,
        inbounds: Sequence[Inbound],
        *,
        positions: Sequence[Position] = (),
        quarantined: Sequence[Quarantined] = (),
    ) -> None:
        """Take messages over. When it returns they are on disk: only then confirm them.

        Messages that may not be answered leave nothing; one taken before is taken once.

        Raises:
            StoreError: nothing was kept; nothing may be confirmed.
        """
        ...

    async def positions(self, platform: Platform, bot: str) -> Mapping[str, str]:
        """The stored position of each stream of this bot."""
        ...

    async def moved(self, old: ChatRef, new: ChatRef) -> None:
        """A place got a new id and stays the same conversation (a group became a supergroup)."""
        ...

    async def edited(self, inbound: Inbound) -> None:
        """Somebody changed what a message says: what is kept of it follows. No second answer.

        Raises:
            StoreError: nothing was changed.
        """
        ...

    async def deleted(self, chat: ChatRef, messages: Sequence[str]) -> None:
        """Messages were deleted, by whomever: nothing is kept of them.

        Args:
            chat: where they stood.
            messages: their ids on the platform.

        Raises:
            StoreError: nothing was changed.
        """
        ...


class CommandRunner(Protocol):
    """Where adapters hand in commands given through the platform's own interface."""

    @property
    def broken(self) -> Mapping[str, str]:
        """What to answer where not even `run` could, by language tag; `en` is always there."""
        ...

    async def run(self, call: CommandCall) -> CommandAnswer:
        """Carry the command out, or answer why not. Never raises for what a person typed."""
        ...


class TurnControl(Protocol):
    """Stops what is being answered; the command `/stop` reaches it through this."""

    def stop(self, session: SessionId) -> bool:
        """Stop the turn of a session; whether one was under way."""
        ...


class ChatAdapter(Protocol):
    """One platform's connection.

    Implementations: `adapters.discord`, `adapters.telegram`; `tests.fakes` for the rest.
    """

    @property
    def platform(self) -> Platform:
        """Which platform it speaks to."""
        ...

    async def run(self, ready: Callable[[], None]) -> None:
        """Receive until cancelled; `ready` is called each time the platform has let us in.

        Raises:
            LoginRefused: token or rights are not accepted; trying again is useless.
            AdapterError: it cannot go on now; the supervisor starts it again.
        """
        ...

    def split(self, text: str) -> list[str]:
        """Cut a reply into parts that the platform takes; at least one, none empty."""
        ...

    async def send(self, part: Outbound) -> str:
        """Deliver one part and return the platform's message id.

        Raises:
            SendRefused: it never will be.
            SendDeferred: not before a while.
            SendUnknown: it may have arrived.
        """
        ...

    def typing(self, chat: ChatRef) -> AbstractAsyncContextManager[None]:
        """Show that an answer is being written, for as long as the context is open."""
        ...


class Draft(Protocol):
    """Where a reply appears while it is being written."""

    async def show(self, text: str) -> None:
        """Append a piece of the reply, already clean."""
        ...

    async def status(self, text: str) -> None:
        """Show what goes on meanwhile (a tool runs); no part of the reply."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What is sent back for a message."""

    text: str
    kept: bool
    """Whether the turn is remembered; a failure is said and forgotten."""


class Talk(Protocol):
    """One person's conversation on the console."""

    async def answer(self, text: str, draft: Draft) -> Reply:
        """The reply to a line, shown in the draft as it is written.

        A reply that is not kept (a failure, a command's answer) was not shown in the draft.
        """
        ...

    def stop(self) -> bool:
        """Stop the answer that is being written; whether one was."""
        ...
