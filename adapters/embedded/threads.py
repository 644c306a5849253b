"""The crossing from the event loop into a thread, for blocking work that must not be torn."""

import asyncio
import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The result of `work(...)`, run in a thread.

    When the caller is cancelled the work runs to its end first, so that whoever cancelled may
    close what the work was using.
    """
    loop = asyncio.get_running_loop()
    future = loop.run_in_executor(None, functools.partial(work, *args, **kwargs))
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        await settled(future)
        raise


async def settled(future: "asyncio.Future[Any]") -> None:
    """Wait for the end of work in a thread, however it ends; a cancellation is kept for then."""
    cancelled = False
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError:
            cancelled = True
    if not future.cancelled():
        future.exception()  # seen, so that the loop does not report it as lost
    if cancelled:
        raise asyncio.CancelledError
