"""One call of the chat model: its reply shown as it comes, cleaned, with the tools it asks for."""

from collections.abc import Collection
from contextlib import aclosing
from dataclasses import dataclass

import structlog

from bot.ports import Draft
from bot.turn.prose import ProseCallFilter, calls_in
from bot.turn.replies import Cleaner
from memory.ports import ChatModel, ChatRequest, Completion, ToolCall

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOutput:
    """What one call of the model gave."""

    text: str
    """Fit to be shown, and shown in the draft by now."""
    calls: tuple[ToolCall, ...]
    done: Completion | None


async def speak(
    chat: ChatModel,
    request: ChatRequest,
    draft: Draft,
    *,
    cleaner: Cleaner,
    tools: Collection[str] = (),
) -> ModelOutput:
    """The model's reply to a request, and which tools it wants.

    `tools` are the names that make an object in the text a call, whether or not the request still
    offers them: a call that comes too late is no answer either.

    Raises:
        ModelError: as `ChatModel.stream`.
    """
    writing = _Writing(draft, cleaner, watching=bool(tools))
    done = None
    async with aclosing(chat.stream(request)) as chunks:
        async for chunk in chunks:
            await writing.add(chunk.text)
            done = chunk.done or done
    calls = (done.tool_calls or calls_in(done.text, tools)) if done and tools else ()
    await writing.end(keep_held=not calls)
    _log(done)
    return ModelOutput(text=writing.shown.strip(), calls=calls, done=done)


class _Writing:
    """A reply on its way into the draft."""

    def __init__(self, draft: Draft, cleaner: Cleaner, *, watching: bool) -> None:
        self._draft = draft
        self._cleaner = cleaner
        self._filter = ProseCallFilter(watching=watching)
        self.shown = ""

    async def add(self, text: str) -> None:
        await self._show(self._filter.feed(self._cleaner.feed(text)))

    async def end(self, *, keep_held: bool) -> None:
        rest = self._filter.feed(self._cleaner.finish())
        held = self._filter.finish()
        await self._show(rest + held if keep_held else rest)

    async def _show(self, piece: str) -> None:
        if piece:
            self.shown += piece
            await self._draft.show(piece)


def _log(done: Completion | None) -> None:
    log.info(
        "model.answered",
        prompt_tokens=done.prompt_tokens if done else None,
        cached_tokens=done.cached_tokens if done else None,
        reply_tokens=done.reply_tokens if done else None,
        tool_calls=len(done.tool_calls) if done else 0,
    )
