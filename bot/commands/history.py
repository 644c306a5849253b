"""The command `/history`: what was said before, looked up in the archive of this conversation."""

from datetime import tzinfo

from bot.commands.registry import Command, Request
from bot.ports import CommandAnswer, CommandOption, CommandSpec, OptionKind
from bot.texts.excerpts import format_excerpts
from bot.texts.keys import Text
from bot.texts.tables import describe, say
from memory.ports import Clock
from memory.recall.lookup import Lookup
from memory.recall.query import Query

WHAT = CommandOption(
    name="query",
    descriptions=describe(Text.ABOUT_HISTORY_QUERY),
    kind=OptionKind.LINE,
    required=True,
)
SPEC = CommandSpec(
    name="history",
    descriptions=describe(Text.ABOUT_HISTORY),
    options=(WHAT,),
    private=True,
)


class HistoryCommand:
    """Its handler, over the same search that prompts use."""

    def __init__(self, lookup: Lookup, *, clock: Clock, zone: tzinfo | None) -> None:
        self._lookup = lookup
        self._clock = clock
        self._zone = zone

    def table(self) -> tuple[Command, ...]:
        """The command, ready for the registry."""
        return (Command(spec=SPEC, handle=self.history),)

    async def history(self, request: Request) -> CommandAnswer:
        """Show what was found, with what stood around it."""
        text = request.given(WHAT)
        if not text:
            return CommandAnswer(text=say(Text.HISTORY_OF_WHAT, request.language), private=True)
        now_ns = self._clock.now_ns()
        found = await self._lookup.search(
            Query(session=request.place.session, text=text, now_ns=now_ns)
        )
        answer = format_excerpts(found, request.language, self._zone)
        return CommandAnswer(text=answer, private=True)
