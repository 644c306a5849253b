"""A model file that the user has on this machine."""

from pathlib import Path

from adapters.embedded.errors import SourceFailed
from adapters.embedded.sources.interface import Fetch, Stage
from adapters.embedded.threads import in_thread

_BLOCK_BYTES = 4 << 20


class GivenFile:
    """Copies a file of this machine. The user's own file is never changed or deleted."""

    needs_scratch = False

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def label(self) -> str:
        """Name for people."""
        return str(self._path)

    async def fill(self, job: Fetch) -> None:
        """The whole file, from its start.

        Raises:
            SourceFailed: it cannot be read.
            WeightsError: as in `Partial.append`.
        """
        try:
            stream = await in_thread(self._path.open, "rb")
        except OSError as exc:
            raise SourceFailed(f"cannot be read ({exc.strerror})") from exc
        with stream:
            await in_thread(job.partial.truncate, 0)
            while block := await in_thread(stream.read, _BLOCK_BYTES):
                await in_thread(job.partial.append, block)
                job.report_progress(Stage.COPYING)
