import asyncio
import os
import pty
import re
from contextlib import asynccontextmanager

import pytest

from tests.cli.process import HANGS_S, Kith
from tests.wire.ollama_server import Fault, ScriptedBackend, Trouble, serve_ollama

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[()=>][A-Z0-9]?")


class Terminal:
    """A person at a terminal, who reads what is shown and types."""

    def __init__(self, process, master):
        self.process, self._master, self._shown = process, master, ""

    async def sees(self, text):
        async with asyncio.timeout(HANGS_S):
            while text not in self.shown:
                await asyncio.sleep(0.02)

    @property
    def shown(self):
        try:
            while piece := os.read(self._master, 65536):
                self._shown += piece.decode(errors="replace")
        except (BlockingIOError, OSError):
            pass
        return ESCAPES.sub("", self._shown)

    def types(self, text):
        os.write(self._master, text.encode())

    async def ended(self):
        async with asyncio.timeout(HANGS_S):
            while self.process.returncode is None:
                _ = self.shown
                await asyncio.sleep(0.02)
        return self.process.returncode


@pytest.fixture
async def ollama():
    async with serve_ollama(ScriptedBackend()) as server:
        yield server


@asynccontextmanager
async def at_a_terminal(kith, *arguments):
    master, slave = pty.openpty()
    os.set_blocking(master, False)
    ends = {"stdin": slave, "stdout": slave, "stderr": slave}
    process = await kith.start(*arguments, **ends, start_new_session=True)
    os.close(slave)
    try:
        yield Terminal(process, master)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        os.close(master)


@pytest.fixture
async def terminal(tmp_path, ollama):
    kith = Kith(home=tmp_path, extra={"TERM": "xterm"})
    kith.configure(f'[ollama]\nurl = "{ollama.url}"\n[models]\nembed = "none"\n')
    async with at_a_terminal(kith, "chat", "--data-dir", kith.data) as person:
        await person.sees("Ctrl-D leaves")
        yield person


async def test_a_person_talks_and_leaves(terminal, ollama):
    ollama.backend.replies += ["你好，小美！", "Bye."]

    terminal.types("我是小美\r")
    await terminal.sees("你好，小美！")
    terminal.types("/help\r")
    await terminal.sees("/help - ")
    terminal.types("/exit\r")

    assert await terminal.ended() == 0
    assert "model: ollama:tiny" in terminal.shown


async def test_a_reply_appears_while_it_is_written(terminal, ollama):
    ollama.backend.replies += ["the first words and never the last"]
    ollama.faults.append(Fault(trouble=Trouble.SILENCE, after=3))

    terminal.types("hi\r")
    await terminal.sees("the first wo")


async def test_ctrl_c_stops_the_answer_and_not_the_talk(terminal, ollama):
    ollama.backend.replies += ["the first words and never the last", "here again"]
    ollama.faults.append(Fault(trouble=Trouble.SILENCE, after=3))
    terminal.types("hi\r")
    await terminal.sees("the first wo")

    terminal.process.send_signal(2)
    await terminal.sees("Stopped.")
    terminal.types("again\r")
    await terminal.sees("here again")
    terminal.types("/exit\r")

    assert await terminal.ended() == 0


async def test_ctrl_d_at_the_prompt_leaves(terminal):
    await terminal.sees(">")
    terminal.types("\x04")

    assert await terminal.ended() == 0


async def test_no_history_of_what_was_typed_is_written(terminal, ollama, tmp_path):
    ollama.backend.replies += ["ok"]
    terminal.types("zanzibar\r")
    await terminal.sees("ok")
    terminal.types("/quit\r")
    await terminal.ended()

    found = [p for p in tmp_path.rglob("*") if p.is_file() and b"zanzibar" in p.read_bytes()]
    assert {p.name.split("-")[0] for p in found} <= {"kith.db"}


@pytest.mark.parametrize(("key", "code"), [("n\r", 1), ("\x04", 1), ("\x03", 130)])
async def test_a_person_may_refuse_the_model_that_is_offered(tmp_path, key, code):
    kith = Kith(home=tmp_path, extra={"TERM": "xterm"})

    async with at_a_terminal(kith, "chat", "--model", "small") as person:
        await person.sees("[Y/n]")
        person.types(key)

        assert await person.ended() == code
        assert "Traceback" not in person.shown
        assert ("kith model get small" in person.shown) == (code == 1)
