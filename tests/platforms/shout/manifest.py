"""A third platform, to show what one is made of: a directory that people put lines into."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from annotated_types import Interval

from bot.manifests import (
    AdapterParts,
    Connector,
    Finding,
    Level,
    OwnSettings,
    PlatformManifest,
)
from bot.ports import ChatAdapter, Platform, Secret

SHOUT = Platform("shout")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShoutSettings(OwnSettings):
    """The table `[shout]`, beside what every platform has."""

    board: str = "/nowhere/board"
    """Where the lines lie; the file `token` in it lets a bot in."""
    part_chars: Annotated[int, Interval(ge=1, le=10_000)] = 80
    """Longest line that the board takes."""


@asynccontextmanager
async def _open(
    settings: ShoutSettings, token: Secret, parts: AdapterParts
) -> AsyncIterator[ChatAdapter]:
    from tests.platforms.shout.adapter import ShoutAdapter  # noqa: PLC0415 - lazy, as in the shipped manifests

    yield ShoutAdapter(Path(settings.board), token, parts, part_chars=settings.part_chars)


async def _check(settings: ShoutSettings, token: Secret) -> list[Finding]:
    from tests.platforms.shout.adapter import log_in  # noqa: PLC0415 - lazy, as in the shipped manifests

    log_in(Path(settings.board), token)
    return [Finding(check=SHOUT, level=Level.OK, what="the board lets the bot in")]


MANIFEST = PlatformManifest(
    name=SHOUT,
    prefix="sh",
    # A line that stands on the board is found there, but nobody looks: once more is enough.
    most_sends=2,
    connector=Connector(settings=ShoutSettings, open=_open, check=_check),
)
