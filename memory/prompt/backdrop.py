"""The hand-written part of the system prompt: `SOUL.md` (who the bot is), `MEMORY.md` (background)."""

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path

import structlog

from memory.errors import BackdropUnreadable
from memory.language.text import scrub
from memory.prompt.wording import wording
from memory.values import SessionId

log = structlog.get_logger()

SESSIONS = "sessions"
"""Directory with one directory a session, named by its id."""
SOUL, BACKGROUND = "SOUL.md", "MEMORY.md"
DEFAULT_SOUL = wording("memory.prompt", "soul").template
RULES = wording("memory.prompt", "rules").template


_PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    stamp: tuple[int, int]
    text: str


class Backdrop:
    """The system part, byte-stable as long as nobody edits the files."""

    def __init__(self, directory: Path, *, limit_chars: int) -> None:
        self._directory = directory
        self._limit_chars = limit_chars
        self._pages: dict[Path, _Page] = {}

    async def system(self, session: SessionId | None = None) -> str:
        """Persona, background, rules of use.

        A file in `sessions/SESSION/` goes before the one of the same name for all.

        Raises:
            BackdropUnreadable: a file is there and cannot be read as UTF-8 text.
        """
        soul, background = await asyncio.to_thread(self._both, session)
        about = f"# Background\n{background}" if background else ""
        return "\n\n".join(part for part in (soul or DEFAULT_SOUL, about, RULES) if part)

    def _both(self, session: SessionId | None) -> tuple[str, str]:
        return self._nearest(SOUL, session), self._nearest(BACKGROUND, session)

    def _nearest(self, name: str, session: SessionId | None) -> str:
        """The session's own file where there is one, else everybody's."""
        # An id that could lead elsewhere names no directory.
        if session is not None and _PLAIN.fullmatch(session):
            own = self._read(self._directory / SESSIONS / session / name)
            if own:
                return own
        return self._read(self._directory / name)

    def _read(self, path: Path) -> str:
        """The text of a file, read again only when it changed; empty when it is not there."""
        try:
            found = path.stat()
            stamp = (found.st_mtime_ns, found.st_size)
            known = self._pages.get(path)
            if known is None or known.stamp != stamp:
                text = scrub(path.read_text(encoding="utf-8-sig")).strip()
                known = self._pages[path] = _Page(stamp=stamp, text=self._capped(path, text))
        except FileNotFoundError:
            self._pages.pop(path, None)
            return ""
        except (OSError, UnicodeDecodeError) as error:
            # The turn that fails by it can only say that something is in the log.
            log.error("backdrop.refused", file=path.name, error=type(error).__name__)  # noqa: TRY400 - a traceback quotes the file
            raise BackdropUnreadable(
                f"{path.name} cannot be read as UTF-8 text: fix or remove it"
            ) from error
        return known.text

    def _capped(self, path: Path, text: str) -> str:
        if len(text) <= self._limit_chars:
            return text
        log.warning("backdrop.cut", file=path.name, chars=len(text), limit_chars=self._limit_chars)
        return text[: self._limit_chars]
