"""The front part of a model file: it grows, is hashed as it grows, and survives an interruption.

Sources append to it in order, so a fetch that one source began can be finished by another. It
becomes the model file by one rename, and only when its sha256 is the official one.
"""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from adapters.embedded.errors import ChecksumMismatch, WeightsError, disk_error
from adapters.embedded.weights import Weights

_BLOCK_BYTES = 1 << 20


class Partial:
    """The bytes gathered so far. Blocking: call it in a thread."""

    def __init__(self, path: Path, stream: IO[bytes], weights: Weights) -> None:
        self._path = path
        self._stream = stream
        self._weights = weights
        self._hash = hashlib.sha256()
        self.size_bytes = 0

    def append(self, data: bytes) -> None:
        """Take the next bytes.

        Raises:
            ChecksumMismatch: more bytes than the official file has.
            WeightsDiskFull: no space left; what was gathered before stays.
            WeightsUnwritable: the disk said no.
        """
        if self.size_bytes + len(data) > self._weights.size_bytes:
            raise self._mismatch("longer")
        try:
            self._stream.write(data)
            self._stream.flush()
        except OSError as exc:
            self._drop_torn_end()
            raise self._error(exc) from exc
        self._hash.update(data)
        self.size_bytes += len(data)

    def truncate(self, size_bytes: int) -> None:
        """Go back to the first `size_bytes` bytes, which are read again for the checksum.

        Raises:
            WeightsUnwritable: the disk said no.
        """
        size_bytes = min(size_bytes, self._weights.size_bytes)
        self._hash = hashlib.sha256()
        self.size_bytes = 0
        try:
            self._stream.seek(0)
            while self.size_bytes < size_bytes:
                block = self._stream.read(min(_BLOCK_BYTES, size_bytes - self.size_bytes))
                if not block:
                    break
                self._hash.update(block)
                self.size_bytes += len(block)
            self._stream.truncate(self.size_bytes)
            self._stream.seek(self.size_bytes)
        except OSError as exc:
            raise self._error(exc) from exc

    def commit(self, target: Path, *, what: str) -> None:
        """Make it the model file, by one rename, if it is the official file.

        Raises:
            ChecksumMismatch: it is not: what was gathered is deleted. `what` names the source.
            WeightsDiskFull: no space left.
            WeightsUnwritable: the disk said no.
        """
        found = self._hash.hexdigest()
        if found != self._weights.sha256:
            raise self._mismatch(found, what)
        try:
            os.fsync(self._stream.fileno())
            self._path.replace(target)
        except OSError as exc:
            raise self._error(exc) from exc

    def _mismatch(self, found: str, what: str = "the file") -> ChecksumMismatch:
        with suppress(OSError):
            self._stream.truncate(0)
        self._path.unlink(missing_ok=True)
        return ChecksumMismatch(what, expected=self._weights.sha256, found=found)

    def _drop_torn_end(self) -> None:
        """Cut off what a failed write may have left behind the last whole append."""
        with suppress(OSError):
            self._stream.truncate(self.size_bytes)
            self._stream.seek(self.size_bytes)

    def _error(self, exc: OSError) -> WeightsError:
        missing_bytes = self._weights.size_bytes - self.size_bytes
        return disk_error(exc, self._path.parent, needed_bytes=missing_bytes)


@contextmanager
def open_partial(path: Path, weights: Weights) -> Iterator[Partial]:
    """The partial file at `path`, opened where it stopped and hashed up to there. Blocking.

    Raises:
        WeightsUnwritable: it cannot be opened.
    """
    try:
        path.touch()
        stream = path.open("r+b", buffering=0)
    except OSError as exc:
        raise disk_error(exc, path.parent, needed_bytes=weights.size_bytes) from exc
    with stream:
        partial = Partial(path, stream, weights)
        partial.truncate(path.stat().st_size)
        yield partial
