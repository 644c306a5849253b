"""The commands that everybody who may speak can use, about their own conversation."""

from collections.abc import Awaitable, Callable

from bot.commands.registry import Command, Request
from bot.commands.tellings import fates_told, service_told, session_told
from bot.ports import CommandAnswer, CommandOption, CommandSpec, OptionKind, TurnControl
from bot.service.service_status import ServiceStatus
from bot.texts.words import Word, describe, say
from memory.engine import Engine

EVERYTHING, FRESH = "all", "fresh"
CONFIRM = CommandOption(
    name="confirm", descriptions=describe(Word.ABOUT_CONFIRM), kind=OptionKind.FLAG
)
WHAT = CommandOption(
    name="what", descriptions=describe(Word.ABOUT_WHAT), choices=(EVERYTHING, FRESH)
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
            Command(spec=_spec("new", Word.ABOUT_NEW), handle=self.new),
            Command(spec=_spec("reset", Word.ABOUT_RESET, WHAT, CONFIRM), handle=self.reset),
            Command(spec=_spec("stop", Word.ABOUT_STOP, urgent=True), handle=self.stop),
            Command(
                spec=_spec("status", Word.ABOUT_STATUS, private=True, urgent=True),
                handle=self.status,
            ),
            Command(
                spec=_spec("whoami", Word.ABOUT_WHOAMI, private=True, urgent=True),
                handle=self.whoami,
            ),
        )

    async def new(self, request: Request) -> CommandAnswer:
        """Begin with an empty window; nothing is deleted."""
        await self._engine.begin_window(request.place.session)
        return CommandAnswer(text=say(Word.NEW_WINDOW, request.language))

    async def reset(self, request: Request) -> CommandAnswer:
        """Clear the conversation, once it is confirmed."""
        what, language = request.given(WHAT), request.language
        everything = what == EVERYTHING
        if not request.flag(CONFIRM):
            facts = await self._engine.inspect(request.place.session)
            word = Word.RESET_ALL_ASKED if everything else Word.RESET_ASKED
            count = facts.messages if facts else 0
            return CommandAnswer(text=say(word, language, count=count))
        if what == FRESH and not await self._engine.summarise(request.place.session):
            return CommandAnswer(text=say(Word.RESET_CALLED_OFF, language))
        report = await self._engine.reset(request.place.session, everything=everything)
        return CommandAnswer(text=fates_told(report, language))

    async def stop(self, request: Request) -> CommandAnswer:
        """Stop the answer that is being written."""
        stopped = self._turns.stop(request.place.session)
        word = Word.STOPPING if stopped else Word.NOTHING_TO_STOP
        return CommandAnswer(text=say(word, request.language))

    async def status(self, request: Request) -> CommandAnswer:
        """How the conversation and, for an administrator, the service stand."""
        facts = await self._engine.inspect(request.place.session)
        status = await self._status()
        lines = [
            say(Word.MODEL_IS, request.language, model=status.chat_model),
            session_told(facts, request.language),
        ]
        if status.embed_model and status.keyword_only:
            lines.append(say(Word.SEARCH_BY_WORDS, request.language))
        if request.place.admin and not request.call.aloud:
            lines.append(service_told(status, request.language))
        return CommandAnswer(text="\n".join(lines), private=True)

    async def whoami(self, request: Request) -> CommandAnswer:
        """The ids under which the asker and the conversation are known."""
        author, language = request.call.author, request.language
        text = say(
            Word.WHO_YOU_ARE,
            language,
            name=author.name,
            person=author.person,
            session=request.place.session,
            mode=request.place.mode.value,
            admin=say(Word.YES if request.place.admin else Word.NO, language),
        )
        return CommandAnswer(text=text, private=True)


def _spec(
    name: str, about: Word, *options: CommandOption, private: bool = False, urgent: bool = False
) -> CommandSpec:
    return CommandSpec(
        name=name, descriptions=describe(about), options=options, private=private, urgent=urgent
    )
