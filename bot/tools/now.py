"""The tool `now`: date, time and weekday, here or in another time zone."""

from dataclasses import dataclass
from datetime import tzinfo
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field

from bot.errors import ToolFailed
from bot.texts.keys import Text
from bot.texts.tables import describe
from bot.turn.interface import AnyTool, Tool, TurnContext
from memory.language.times import format_now
from memory.ports import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class NowArguments:
    """What the model may say."""

    zone: Annotated[
        str | None,
        Field(description="IANA time zone such as Asia/Taipei; left out, the bot's own"),
    ] = None


def now_tool(clock: Clock, zone: tzinfo | None) -> AnyTool:
    """The tool. `zone` None is the machine's own time zone."""

    async def run(_context: TurnContext, arguments: NowArguments) -> str:
        where = _zone(arguments.zone) if arguments.zone else zone
        return format_now(clock.now_ns(), where)

    return Tool(
        name="now",
        description="The current date, weekday and time to the second.",
        arguments=NowArguments,
        run=run,
        labels=describe(Text.RUNS_NOW),
        parallel=True,
    )


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ToolFailed("invalid parameter 'zone': no such IANA time zone") from None
