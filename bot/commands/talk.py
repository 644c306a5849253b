"""The commands that everybody who may speak can use, about their own conversation."""

from collections.abc import Awaitable, Callable

from bot.commands.registry import Command, Request
from bot.ports import CommandAnswer, CommandOption, CommandSpec, OptionKind, TurnControl
from bot.service.service_status import ServiceStatus
from bot.texts.conversations import format_conversation, format_reset
from bot.texts.keys import Text
from bot.texts.language import Language
from bot.texts.tables import describe, say, yes_or_no
from memory.engine import Engine

EVERYTHING, FRESH = "all", "fresh"
CONFIRM = CommandOption(
    name="confirm", descriptions=describe(Text.ABOUT_RESET_CONFIRM), kind=OptionKind.FLAG
)
WHAT = CommandOption(
    name="what", descriptions=describe(Text.ABOUT_RESET_WHAT), choices=(EVERYTHING, FRESH)
)


class TalkCommands:
    """Handlers that share the engine and the turns."""

    def __init__(
        self,
        *,
        engine: Engine,
        turns: TurnControl,
        status: Callable[[], Awaitable[ServiceStatus]],
    ) -> None:
        self._engine = engine
        self._turns = turns
        self._status = status

    def table(self) -> tuple[Command, ...]:
        """The commands, in the order in which they are listed."""
        return (
            Command(spec=_spec("new", Text.ABOUT_NEW), handle=self.new),
            Command(spec=_spec("reset", Text.ABOUT_RESET, WHAT, CONFIRM), handle=self.reset),
            Command(spec=_spec("stop", Text.ABOUT_STOP, urgent=True), handle=self.stop),
            Command(
                spec=_spec("status", Text.ABOUT_STATUS, private=True, urgent=True),
                handle=self.status,
            ),
            Command(
                spec=_spec("whoami", Text.ABOUT_WHOAMI, private=True, urgent=True),
                handle=self.whoami,
            ),
        )

    async def new(self, request: Request) -> CommandAnswer:
        """Begin with an empty window; nothing is deleted."""
        await self._engine.begin_window(request.place.session)
        return CommandAnswer(text=say(Text.NEW_WINDOW, request.language))

    async def reset(self, request: Request) -> CommandAnswer:
        """Clear the conversation, once it is confirmed."""
        what, language = request.given(WHAT), request.language
        everything = what == EVERYTHING
        if not request.flag(CONFIRM):
            facts = await self._engine.inspect(request.place.session)
            question = Text.RESET_ALL_CONFIRM if everything else Text.RESET_CONFIRM
            count = facts.messages if facts else 0
            return CommandAnswer(text=say(question, language, count=count))
        if what == FRESH and not await self._engine.summarise(request.place.session):
            return CommandAnswer(text=say(Text.RESET_CALLED_OFF, language))
        report = await self._engine.reset(request.place.session, everything=everything)
        return CommandAnswer(text=format_reset(report, language))

    async def stop(self, request: Request) -> CommandAnswer:
        """Stop the answer that is being written."""
        stopped = self._turns.stop(request.place.session)
        text = Text.STOPPING if stopped else Text.NOTHING_TO_STOP
        return CommandAnswer(text=say(text, request.language))

    async def status(self, request: Request) -> CommandAnswer:
        """How the conversation and, for an administrator, the service stand."""
        facts = await self._engine.inspect(request.place.session)
        status = await self._status()
        lines = [
            say(Text.MODEL_IS, request.language, model=status.chat_model),
            format_conversation(facts, request.language),
        ]
        if status.embed_model and status.keyword_only:
            lines.append(say(Text.SEARCH_BY_WORDS, request.language))
        if request.place.admin and not request.call.aloud:
            lines.append(_service(status, request.language))
        return CommandAnswer(text="\n".join(lines), private=True)

    async def whoami(self, request: Request) -> CommandAnswer:
        """The ids under which the asker and the conversation are known."""
        author, language = request.call.author, request.language
        text = say(
            Text.WHO_YOU_ARE,
            language,
            name=author.name,
            person=author.person,
            session=request.place.session,
            mode=request.place.mode.value,
            admin=yes_or_no(request.place.admin, language),
        )
        return CommandAnswer(text=text, private=True)


def _spec(
    name: str, about: Text, *options: CommandOption, private: bool = False, urgent: bool = False
) -> CommandSpec:
    return CommandSpec(
        name=name, descriptions=describe(about), options=options, private=private, urgent=urgent
    )


def _service(status: ServiceStatus, language: Language) -> str:
    """How the service stands, for an administrator."""
    lines = [
        f"- {one.platform}: {one.standing.value}" + (f" ({one.error})" if one.error else "")
        for one in status.adapters
    ]
    if status.embed_model and status.waiting_vectors:
        lines.append(say(Text.VECTORS_WAIT, language, count=status.waiting_vectors))
    figures = {"lanes": status.lanes, "inbox": status.inbox_open, "outbox": status.outbox_open}
    return "\n".join([*lines, say(Text.SERVICE_IS, language, **figures)])
