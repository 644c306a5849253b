"""The command `/summary`: what the bot keeps in mind of a conversation, and bringing it up to date."""

from datetime import tzinfo

from bot.commands.registry import Command, Request
from bot.ports import CommandAnswer, CommandOption, CommandSpec
from bot.texts.keys import Text
from bot.texts.summaries import format_run, format_summary
from bot.texts.tables import describe, say
from memory.summary.service import SummaryService

REFRESH = "refresh"
WHAT = CommandOption(
    name="what",
    descriptions=describe(Text.ABOUT_SUMMARY_WHAT),
    choices=(REFRESH,),
)
SPEC = CommandSpec(
    name="summary",
    descriptions=describe(Text.ABOUT_SUMMARY),
    options=(WHAT,),
)


class SummaryCommand:
    """Its handler, over the rolling summaries."""

    def __init__(self, summaries: SummaryService, *, zone: tzinfo | None) -> None:
        self._summaries = summaries
        self._zone = zone

    def table(self) -> tuple[Command, ...]:
        """The command, ready for the registry."""
        return (Command(spec=SPEC, handle=self.summary),)

    async def summary(self, request: Request) -> CommandAnswer:
        """Show the summary; for an administrator who asks, bring it up to date first."""
        parts = []
        if request.given(WHAT) == REFRESH:
            if not request.place.admin:
                return CommandAnswer(text=say(Text.ADMINS_ONLY, request.language), private=True)
            run = await self._summaries.refresh(request.place.session)
            parts += [format_run(run, request.language), ""]
        view = await self._summaries.view(request.place.session)
        parts.append(format_summary(view, request.language, self._zone))
        return CommandAnswer(text="\n".join(parts))
