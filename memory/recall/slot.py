"""The recalled messages of a prompt: how much room they get, and what of the past they may hold."""

from collections.abc import Sequence

from memory.language.text import estimate_tokens
from memory.ports import ChatModel
from memory.recall.recall import Recall, Wanted
from memory.recall.snippets import Snippets
from memory.values import Message, NewMessage, Seq, Session

LARGEST_SHARE = 4
"""Recall gets at most one part in so many of the prompt."""
WINDOW_SHARE = 2
"""Of the window, what fits into one part in so many of the prompt counts as shown. It may be more;
then a recalled message stands there twice, which costs a few tokens. Were it less, a message that
the budget cuts off could be in neither."""


class Recalling:
    """Automatic recall: small local models call tools badly, so nobody has to ask for it."""

    def __init__(self, *, recall: Recall, chat: ChatModel, most_tokens: int) -> None:
        self._recall = recall
        self._chat = chat
        self._most_tokens = most_tokens

    async def gather(
        self, session: Session, entry: NewMessage, window: Sequence[Message]
    ) -> Snippets:
        """What bears on `entry` of all that stands before the window.

        Raises:
            ModelError: the chat model cannot be asked for its limits.
            StoreError: the database could not be read.
        """
        limits = await self._chat.limits()
        budget = min(self._most_tokens, limits.prompt_tokens // LARGEST_SHARE)
        before = _first_shown(window, limits.prompt_tokens // WINDOW_SHARE)
        if budget == 0:
            return Snippets()
        wanted = Wanted(session=session.id, text=entry.text, now_ns=entry.sent_at_ns, before=before)
        return (await self._recall.find(wanted, budget_tokens=budget)).snippets


def _first_shown(window: Sequence[Message], room_tokens: int) -> Seq | None:
    """The oldest message that surely fits, the newest always; None, no limit, without a window."""
    first: Seq | None = None
    for message in reversed(window):
        room_tokens -= estimate_tokens(message.text)
        if first is not None and room_tokens < 0:
            break
        first = message.seq
    return first
