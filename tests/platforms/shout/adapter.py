"""A directory as a platform: `1.said` holds what a person said, `1.shouted` what the bot did."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from bot.errors import LoginRefused, PlatformUnreachable
from bot.manifests import AdapterParts
from bot.ports import Author, ChatKind, ChatRef, Inbound, Outbound, Platform, Position, Secret
from memory.values import PersonId
from tests.platforms.shout.manifest import SHOUT

_BOT = "board"
_STREAM = "said"
_LOOK_EVERY_S = 0.02


def log_in(board: Path, token: Secret) -> None:
    """Be let in.

    Raises:
        PlatformUnreachable: there is no board.
        LoginRefused: it is another one's.
    """
    if not board.is_dir():
        raise PlatformUnreachable(f"there is no board at {board}")
    if (board / "token").read_text() != token.reveal():
        raise LoginRefused("the board does not know this token")


class ShoutAdapter:
    """Implements `bot.ports.ChatAdapter`."""

    def __init__(self, board: Path, token: Secret, parts: AdapterParts, *, part_chars: int) -> None:
        self._board = board
        self._token = token
        self._parts = parts
        self._part_chars = part_chars

    @property
    def platform(self) -> Platform:
        return SHOUT

    async def run(self, ready: Callable[[], None]) -> None:
        log_in(self._board, self._token)
        ready()
        taken = int((await self._parts.intake.positions(SHOUT, _BOT)).get(_STREAM, 0))
        while True:
            while (said := self._board / f"{taken + 1}.said").exists():
                taken += 1
                position = Position(platform=SHOUT, bot=_BOT, stream=_STREAM, value=str(taken))
                inbound = self._inbound(taken, said.read_text())
                await self._parts.intake.accept([inbound], positions=[position])
            await asyncio.sleep(_LOOK_EVERY_S)

    def _inbound(self, number: int, line: str) -> Inbound:
        name, _, text = line.partition(": ")
        return Inbound(
            chat=ChatRef(platform=SHOUT, bot=_BOT, chat="wall", kind=ChatKind.DIRECT),
            author=Author(person=PersonId(f"{SHOUT}:{name}"), name=name),
            message=str(number),
            text=text,
            sent_at_ns=self._parts.clock.now_ns(),
            addressed=True,
        )

    def split(self, text: str) -> list[str]:
        starts = range(0, len(text), self._part_chars)
        return [text[start : start + self._part_chars] for start in starts] or ["…"]

    async def send(self, part: Outbound) -> str:
        number = len(list(self._board.glob("*.shouted"))) + 1
        (self._board / f"{number}.shouted").write_text(part.text.upper())
        return str(number)

    @asynccontextmanager
    async def typing(self, _chat: ChatRef) -> AsyncIterator[None]:
        yield
