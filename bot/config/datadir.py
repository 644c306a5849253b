"""The data directory: made private, owned by one process at a time."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.errors import DataDirLocked, DataDirUnusable

LOCK = "kith.lock"
DATABASE = "kith.db"
_PRIVATE = 0o700


@contextmanager
def owned(directory: Path) -> Iterator[Path]:
    """The directory, made if need be, with this process as its only owner.

    The lock ends with the process, however that ends; the file stays and means nothing by itself.

    Raises:
        DataDirLocked: another process owns it.
        DataDirUnusable: it cannot be made or written.
    """
    try:
        directory.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        lock = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise DataDirUnusable(
            f"{directory} cannot be used: {error.strerror}; choose another with --data-dir"
        ) from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(lock, 20, 0).decode("ascii", "replace").strip() or "unknown"
            raise DataDirLocked(
                f"another Kith (process {owner}) uses {directory}; stop it first,"
                " or choose another directory with --data-dir"
            ) from None
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
        yield directory
    finally:
        os.close(lock)
