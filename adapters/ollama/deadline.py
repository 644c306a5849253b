"""A limit on one wait, kept apart from the caller's own deadline."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from memory.errors import ModelTimedOut


@asynccontextmanager
async def deadline(limit_s: float, complaint: str) -> AsyncIterator[None]:
    """Give the block `limit_s` seconds.

    Raises:
        ModelTimedOut: it took longer; the message is `complaint` with the limit.
    """
    try:
        async with asyncio.timeout(limit_s) as scope:
            yield
    except TimeoutError as exc:
        if not scope.expired():
            raise
        raise ModelTimedOut(f"{complaint} within {limit_s:g} s") from exc
