"""A break of one place in the source, and the standing list of them."""

import difflib
import tomllib
from dataclasses import dataclass
from pathlib import Path

LIST = Path("scripts/mutation/standing.toml")


class Unsound(Exception):
    """A run would prove nothing: the list does not fit, or a test fails without a break."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    """What stands from `start` to `end` of a file becomes `new`."""

    path: str
    """Below the root of the work tree."""
    start: int
    """In bytes, as `end`."""
    end: int
    new: str
    kind: str
    """What is broken (`off by one`), or for the standing list what is guarded (`privacy`)."""
    standing: bool = False

    def broken(self, source: bytes) -> bytes:
        """The file with the break in it."""
        return source[: self.start] + self.new.encode() + source[self.end :]

    def place(self, source: bytes) -> str:
        """File and line."""
        line = source[: self.start].count(b"\n") + 1
        return f"{self.path}:{line}"

    def diff(self, source: bytes) -> list[str]:
        """The lines that differ, the old ones first."""
        before, after = (text.decode().splitlines() for text in (source, self.broken(source)))
        lines = list(difflib.unified_diff(before, after, n=0, lineterm=""))
        return [line for line in lines[2:] if not line.startswith("@@")]


def standing(root: Path) -> list[Break]:
    """The standing list.

    Raises:
        Unsound: a text of it is not in its file exactly once.
    """
    found, wrong = [], []
    for path, kinds in tomllib.loads((root / LIST).read_text()).items():
        source = (root / path).read_bytes() if (root / path).is_file() else b""
        for kind, pairs in kinds.items():
            for old, new in pairs:
                if (times := source.count(old.encode())) != 1:
                    wrong.append(f"{path} holds this {times} times, not once: {old!r}")
                    continue
                start = source.index(old.encode())
                end = start + len(old.encode())
                found.append(
                    Break(path=path, start=start, end=end, new=new, kind=kind, standing=True)
                )
    if wrong:
        raise Unsound("\n".join([f"{LIST} does not fit the source:", *wrong]))
    return found


def is_within(path: str, packages: list[str]) -> bool:
    """Whether a file is one of these modules or in one of these packages (`memory.keeping`)."""
    dotted = path.rpartition(".")[0].replace("/", ".")
    return any(f"{dotted}.".startswith(f"{one}.") for one in packages)
