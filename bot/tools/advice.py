"""What a model gets to read whose tool failed: earlier records of such failures."""

import structlog

from bot.tools.errors import format_hints
from bot.turn.running import Advise
from memory.errors import StoreError
from memory.tool_errors.error_memory import ErrorMemory

log = structlog.get_logger()


def advice_from(memory: ErrorMemory) -> Advise:
    """The advice that the error memory gives; none when it cannot be read."""

    async def advise(tool: str, said: str) -> str:
        try:
            return format_hints(await memory.hints(tool, said))
        except StoreError as error:
            log.warning("errors.not_read", error=type(error).__name__)
            return ""

    return advise
