"""The command `/history`: what was said before, looked up in the archive of this conversation."""

from datetime import tzinfo

from bot.commands.registry import Command, Request
from bot.ports import CommandAnswer, CommandOption, CommandSpec, OptionKind
from bot.texts.excerpts import told
from bot.texts.words import Word, say
from memory.ports import Clock
from memory.recall.lookup import Lookup, Sought

WHAT = CommandOption(
    name="query",
    descriptions={
        "en": "What to look for; in quotation marks: exactly that",
        "zh-TW": "要找的內容；加上引號就照字面找",
    },
    kind=OptionKind.LINE,
    required=True,
)
SPEC = CommandSpec(
    name="history",
    descriptions={"en": "Look up what was said here", "zh-TW": "查詢這裡以前說過的話"},
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
        query = request.given(WHAT)
        if not query:
            return CommandAnswer(text=say(Word.HISTORY_OF_WHAT, request.language), private=True)
        now_ns = self._clock.now_ns()
        found = await self._lookup.search(
            Sought(session=request.place.session, text=query, now_ns=now_ns)
        )
        return CommandAnswer(text=told(found, request.language, self._zone), private=True)
