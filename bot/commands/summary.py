"""The command `/summary`: what the bot keeps in mind of a conversation, and bringing it up to date."""

from datetime import tzinfo

from bot.commands.registry import Command, Request
from bot.ports import CommandAnswer, CommandOption, CommandSpec
from bot.texts.summary_words import run_told, view_told
from bot.texts.words import Word, say
from memory.summary.rolling import RollingSummary

REFRESH = "refresh"
WHAT = CommandOption(
    name="what",
    descriptions={
        "en": "refresh: bring it up to date now (administrators)",
        "zh-TW": "refresh：立刻更新摘要（限管理者）",
    },
    choices=(REFRESH,),
)
SPEC = CommandSpec(
    name="summary",
    descriptions={
        "en": "Show what I keep in mind of our talk",
        "zh-TW": "顯示我記得的對話重點",
    },
    options=(WHAT,),
)


class SummaryCommand:
    """Its handler, over the rolling summaries."""

    def __init__(self, summaries: RollingSummary, *, zone: tzinfo | None) -> None:
        self._summaries = summaries
        self._zone = zone

    def table(self) -> tuple[Command, ...]:
        """The command, ready for the registry."""
        return (Command(spec=SPEC, handle=self.summary),)

    async def summary(self, request: Request) -> CommandAnswer:
        """Show the summary; for an administrator who asks, bring it up to date first."""
        told = []
        if request.given(WHAT) == REFRESH:
            if not request.place.admin:
                return CommandAnswer(text=say(Word.ADMINS_ONLY, request.language), private=True)
            run = await self._summaries.refresh(request.place.session)
            told += [run_told(run, request.language), ""]
        view = await self._summaries.view(request.place.session)
        told.append(view_told(view, request.language, self._zone))
        return CommandAnswer(text="\n".join(told))
