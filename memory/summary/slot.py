"""The summary's part of the turn context: what of it bears on this request."""

from dataclasses import dataclass

from memory.summary.entries import all_entries, general_rules, only
from memory.summary.judge import Item, Judge
from memory.summary.value import Summary, to_json, without_least

HEADING = "## Prior summary"
EMPTY = Summary()


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarySlot:
    """The summary as the prompt holds it: its JSON under a heading."""

    summary: Summary = EMPTY

    def render(self) -> str:
        """Heading and JSON; empty for a summary in which nothing stands."""
        return f"{HEADING}\n{to_json(self.summary)}" if self.summary else ""

    def shorter(self) -> "SummarySlot | None":
        """Without its least important entry; None when it has none left."""
        less = without_least(self.summary)
        return None if less is None else SummarySlot(summary=less)


async def relevant_part(judge: Judge, summary: Summary, request: str) -> Summary:
    """What of the summary bears on a request; all of it when nobody can tell.

    General rules always do. A view: what is stored stays as it is. Waits at most 5 s.
    """
    entries = all_entries(summary)
    found = await judge.relevant(request, [Item(id=n, text=text) for n, text in entries.items()])
    if not found.sound:
        return summary
    return only(summary, found.ids | general_rules(summary))
