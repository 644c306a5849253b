"""Chat on a terminal: line editing, replies that appear as they are written."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from prompt_toolkit import PromptSession
from prompt_toolkit.history import InMemoryHistory
from rich.console import Console

from bot.ports import Talk
from memory.language.text import scrub

LEAVE = ("/exit", "/quit", "/bye")


class _Shown:
    """Writes pieces of a reply to the terminal, as they are: markup in them means nothing."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.anything = False

    async def show(self, text: str) -> None:
        """Append a piece."""
        self.anything = True
        self._console.out(text, end="", highlight=False)

    async def status(self, text: str) -> None:
        """Print a dim line of its own."""
        self._console.print(f"({text})", style="dim", markup=False, highlight=False)


async def converse(talk: Talk, *, console: Console, name: str) -> None:
    """Talk until the person leaves (Ctrl-D, `/exit`); Ctrl-C stops the answer being written."""
    console.print("[dim]/help lists the commands, Ctrl-C stops an answer, Ctrl-D leaves.[/dim]")
    # What is typed is kept for this run only: a history file would be a transcript.
    prompt: PromptSession[str] = PromptSession(history=InMemoryHistory())
    while (line := await _ask(prompt, name)) is not None:
        text = scrub(line).strip()
        if text in LEAVE:
            return
        if text:
            await _answer(talk, text, console)


async def _ask(prompt: PromptSession[str], name: str) -> str | None:
    """The next line; None when the person leaves."""
    while True:
        try:
            return await prompt.prompt_async([("bold", f"{name}> ")])
        except KeyboardInterrupt:
            continue
        except EOFError:
            return None


async def _answer(talk: Talk, text: str, console: Console) -> None:
    shown = _Shown(console)
    with _interrupts_stop(talk):
        console.print("[bold cyan]kith>[/bold cyan] ", end="")
        reply = await talk.answer(text, shown)
    if reply.kept:
        console.print()
        return
    if shown.anything:
        console.print()
    console.print(reply.text, markup=False, highlight=False, style="yellow")


@contextmanager
def _interrupts_stop(talk: Talk) -> Iterator[None]:
    """Let Ctrl-C stop the answer, not the program."""
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, talk.stop)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
