"""Runs the tests against one break after another, in copies of the work tree."""

import asyncio
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from scripts.mutation.breaks import Break, Unsound

SURVIVED, KILLED, TIMED_OUT = "SURVIVED", "killed", "timed out"

_WIDER = {
    "adapters": ("tests/adapters", "tests/contracts", "tests/wire"),
    "adapters/console": ("tests/cli",),
    "bot": ("tests/bot",),
    "bot/app": ("tests/bot", "tests/cli", "tests/e2e"),
    "bot/cli": ("tests/bot", "tests/cli"),
    "bot/console": ("tests/bot", "tests/cli"),
    "memory": ("tests/memory", "tests/bot"),
}
"""What is run when the mirrored tests notice nothing; of the folders that fit, the last counts."""
_FAILED = re.compile(r"^(?:FAILED|ERROR) ([^\s\[]+)", re.MULTILINE)
_SAID_CHARS = 2_000


class Reach(StrEnum):
    """Which tests are run while nothing notices the break."""

    NEAREST = "nearest"
    """The folder that mirrors the broken file's."""
    PACKAGE = "package"
    """Those of its package, too."""
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came of a break."""

    place: str
    kind: str
    standing: bool
    outcome: str
    killer: str
    """The first test that failed; empty without one."""
    diff: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How to run."""

    reach: Reach
    """How far the tests are from the break at most."""
    jobs: int
    """How many breaks are tested at once."""
    limit_s: float
    """Longest that one set of tests may take."""


async def run_all(
    root: Path, breaks: Sequence[Break], options: RunOptions, ended: Callable[[Result], None]
) -> None:
    """Test every break; `ended` is called with each.

    Raises:
        Unsound: a test fails without a break too.
    """
    pending = iter(breaks)

    async def work(copy: _Copy) -> None:
        for one in pending:
            ended(await copy.test(one, options.reach))

    with _copies(root, options.jobs) as places:
        try:
            async with asyncio.TaskGroup() as tasks:
                for place in places:
                    tasks.create_task(work(_Copy(place, limit_s=options.limit_s)))
        except ExceptionGroup as group:
            raise group.exceptions[0] from group


@contextmanager
def _copies(root: Path, count: int) -> Iterator[list[Path]]:
    """As many copies of what git knows or does not ignore; deleted at the end."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)
    names = [name for name in listed.stdout.splitlines() if (root / name).is_file()]
    with tempfile.TemporaryDirectory(prefix="mutate-") as scratch:
        places = [Path(scratch) / str(number) for number in range(count)]
        for place in places:
            for name in names:
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, place / name)
        yield places


class _Copy:
    """A copy of the work tree, with one break in it at a time."""

    def __init__(self, root: Path, *, limit_s: float) -> None:
        self._root = root
        self._limit_s = limit_s
        self._sound: set[str] = set()

    async def test(self, one: Break, reach: Reach) -> Result:
        """What the tests say of a break.

        Raises:
            Unsound: the test that failed fails without the break too.
        """
        target = self._root / one.path
        source = target.read_bytes()
        target.write_bytes(one.broken(source))
        try:
            outcome, killer = await self._first_failure(one.path, reach)
        finally:
            target.write_bytes(source)
        if killer and killer not in self._sound:
            if (await self._pytest([killer]))[0] != SURVIVED:
                raise Unsound(f"{killer} fails without a break")
            self._sound.add(killer)
        return Result(
            place=one.place(source),
            kind=one.kind,
            standing=one.standing,
            outcome=outcome,
            killer=killer,
            diff=one.diff(source),
        )

    async def _first_failure(self, path: str, reach: Reach) -> tuple[str, str]:
        outcome, killer = SURVIVED, ""
        for tests in self._stages(path, reach):
            outcome, killer = await self._pytest(tests)
            if outcome != SURVIVED:
                break
        return outcome, killer

    def _stages(self, path: str, reach: Reach) -> Iterator[list[str]]:
        """The tests to run one after the other, the nearest first."""
        nearest = Path("tests", path).parent
        while not (self._root / nearest).is_dir():
            nearest = nearest.parent
        wider = [tests for folder, tests in _WIDER.items() if path.startswith(f"{folder}/")][-1]
        yield self._likeliest(nearest, Path(path).stem)
        if reach is not Reach.NEAREST:
            yield [*wider, f"--ignore={nearest}"]
        if reach is Reach.ALL:
            yield ["tests", *(f"--ignore={done}" for done in wider)]

    def _likeliest(self, folder: Path, module: str) -> list[str]:
        """The test files of a folder: first those that name the module often, last the slow ones."""
        texts = {path: path.read_text() for path in (self._root / folder).rglob("test_*.py")}

        def place(path: Path) -> tuple[bool, int, Path]:
            text = texts[path]
            return "subprocess" in text, -f"{path.stem} {text}".count(module), path

        return [str(path.relative_to(self._root)) for path in sorted(texts, key=place)]

    async def _pytest(self, arguments: Sequence[str]) -> tuple[str, str]:
        """The outcome, and the test that failed."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "pytest", "-x", "-q", "-rfE", "--tb=no"),
            *("-p", "no:cacheprovider", f"--basetemp={self._root}/.tmp", *arguments),
            cwd=self._root,
            env={**os.environ, "PYTHONPATH": str(self._root), "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(self._limit_s):
                said, _ = await process.communicate()
        except TimeoutError:
            return TIMED_OUT, ""
        finally:
            with suppress(ProcessLookupError):  # the tests' own processes too
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        text = said.decode(errors="replace")
        if process.returncode == 0:
            return SURVIVED, ""
        if (failed := _FAILED.search(text)) is None:
            raise Unsound(f"pytest did not say what failed:\n{text[-_SAID_CHARS:]}")
        return KILLED, failed[1]
