"""Chat through a pipe: one line of answer for each line of input, until the input ends."""

import asyncio
import os
import stat
import sys
from collections.abc import AsyncIterator
from typing import TextIO

from bot.ports import Talk
from memory.language.text import one_line, scrub

_CHUNK_BYTES = 1 << 16
_LONGEST_LINE_BYTES = 16 << 20
"""What is past it is dropped: no model reads a line of that length, and the answer says so."""


class _Unwatched:
    async def show(self, text: str) -> None:
        """Show nothing: the answer is printed when it is whole."""

    async def status(self, text: str) -> None:
        """Show nothing: one line in is one line out."""


async def converse(talk: Talk, *, lines: AsyncIterator[str], output: TextIO) -> bool:
    """Answer every line; whether all of them were answered by the model or a command."""
    all_well = True
    async for line in lines:
        text = scrub(line).strip()
        if not text:
            print(file=output, flush=True)
            continue
        reply = await talk.answer(text, _Unwatched())
        all_well = all_well and (reply.kept or text.startswith("/"))
        print(one_line(reply.text), file=output, flush=True)
    return all_well


async def standard_input() -> AsyncIterator[str]:
    """The lines of standard input, as they come; bytes that are not UTF-8 are replaced."""
    if sys.stdin is None:  # closed by whoever started us
        return
    pending = bytearray()
    async for chunk in _chunks():
        head, *complete = chunk.split(b"\n")
        pending += head[: max(_LONGEST_LINE_BYTES - len(pending), 0)]
        for start in complete:
            yield pending.decode("utf-8", "replace")
            pending = bytearray(start[:_LONGEST_LINE_BYTES])
    if pending:
        yield pending.decode("utf-8", "replace")


async def _chunks() -> AsyncIterator[bytes]:
    descriptor = sys.stdin.fileno()
    mode = os.fstat(descriptor).st_mode
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)):
        # A file or a device such as /dev/null: it never waits, and epoll(7) refuses to watch it.
        while chunk := await asyncio.to_thread(os.read, descriptor, _CHUNK_BYTES):
            yield chunk
        return
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    try:
        while chunk := await reader.read(_CHUNK_BYTES):
            yield chunk
    finally:
        transport.close()
