"""Runs `kith` as a process of its own, away from the real home directory and from any network."""

import asyncio
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
NOBODY_LISTENS = "http://127.0.0.1:9"
HANGS_S = 240
"""Only what hangs takes so long: a process that starts beside a busy machine takes a minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def lines(self):
        return self.out.splitlines()


@dataclass(frozen=True, slots=True, kw_only=True)
class Kith:
    """The command line, with a home of its own."""

    home: Path
    extra: Mapping[str, str]

    @property
    def data(self):
        return self.home / "data"

    @property
    def env(self):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("KITH_", "XDG_"))}
        return {
            **kept,
            "HOME": str(self.home),
            "PYTHONPATH": str(ROOT),
            # Whatever would leave this machine fails at once instead.
            "HTTPS_PROXY": NOBODY_LISTENS,
            "HTTP_PROXY": NOBODY_LISTENS,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": "",
            "COLUMNS": "200",
            **self.extra,
        }

    def configure(self, text):
        path = self.home / ".config" / "kith" / "kith.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    async def start(self, *arguments, **more):
        pipe = asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bot", *map(str, arguments)),
            **{"stdin": pipe, "stdout": pipe, "stderr": pipe, **more},
            cwd=self.home,
            env=self.env,
        )

    async def run(self, *arguments, typed=b"", **more):
        """Run to the end, with `typed` (text or bytes) as its input."""
        process = await self.start(*arguments, **more)
        data = typed.encode() if isinstance(typed, str) else typed
        async with asyncio.timeout(HANGS_S):
            out, err = await process.communicate(data)
        return Done(code=process.returncode, out=out.decode(), err=err.decode())

    async def chat(self, typed, *arguments, **more):
        return await self.run("chat", "--data-dir", self.data, *arguments, typed=typed, **more)
