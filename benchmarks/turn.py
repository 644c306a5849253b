"""What a turn costs without the model: `python benchmarks/turn.py [--json]`.

A scripted model answers at once, so that what is left is Kith's own work: reading the window,
putting the prompt together, cleaning the reply, one durable transaction. It is measured at 1, 10
and 50 sessions at once, with 1,000 and 100,000 messages stored, together with the longest time
that the event loop was blocked.
"""

import argparse
import asyncio
import json
import random
import statistics
import tempfile
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import structlog

from bot.turn.interface import TurnContext
from bot.turn.turns import TurnEngine
from memory.archive import messages_table
from memory.database import sessions_table
from memory.database.database import Database, open_database
from memory.engine import open_engine
from memory.ports import ChatChunk, ChatRequest, Completion, ModelLimits, Models
from memory.settings import MemorySettings
from memory.summary import summaries_table
from memory.summary.value import Summary
from memory.values import NO_SEQ, NewMessage, PersonId, Role, SessionId, Speaker

TURNS = 600
STORED = (1_000, 100_000)
AT_ONCE = (1, 10, 50)
LOOK_S = 0.002
WORDS = "麻糬 tea 綠茶 the cat went to Kyoto and 東京 on Friday with a very small umbrella".split()


class Instant:
    """A model that takes no time."""

    name = "instant"

    async def limits(self) -> ModelLimits:
        return ModelLimits(context_tokens=8192, prompt_tokens=7168, reply_tokens=1024)

    async def stream(self, _request: ChatRequest) -> AsyncGenerator[ChatChunk, None]:
        yield ChatChunk(text="Yes, I remember that.")
        yield ChatChunk(done=Completion(text="Yes, I remember that."))

    async def complete(self, _request: ChatRequest) -> Completion:
        return Completion(text="Yes, I remember that.")


class Clock:
    def now_ns(self) -> int:
        return time.time_ns()


@dataclass(frozen=True)
class Row:
    stored: int
    sessions: int
    p50_ms: float
    p95_ms: float
    turns_per_s: float
    longest_block_ms: float


async def fill(database: Database, rows: int) -> None:
    """Store messages over all sessions that the benchmark uses."""
    chance = random.Random(7)
    names = [SessionId(f"cli-{n}") for n in range(max(AT_ONCE))]
    speaker = Speaker(person=PersonId("console:me"), name="me")
    for at in range(0, rows, 10_000):
        async with database.unit() as unit:
            numbers = [(await sessions_table.touch(unit, s, title="", now_ns=1))[0] for s in names]
            for index in range(at, min(at + 10_000, rows)):
                text = " ".join(chance.choices(WORDS, k=12))
                role = Role.ASSISTANT if index // len(names) % 2 else Role.USER
                message = NewMessage(
                    role=role,
                    text=text,
                    sent_at_ns=index,
                    speaker=speaker if role is Role.USER else None,
                )
                await messages_table.append(unit, numbers[index % len(numbers)], [message])
    await summarise(database, names)


async def summarise(database: Database, names: Sequence[SessionId]) -> None:
    """Cover everything by a summary, as the passes of a running service have done by then."""
    async with database.unit() as unit:
        for session in names:
            [last] = await messages_table.latest(unit, session, from_seq=NO_SEQ, limit=1)
            state = await summaries_table.state(unit, session)
            if state is not None:
                await summaries_table.save(
                    unit,
                    session,
                    summary=Summary(),
                    cursor=summaries_table.Cursor(seq=last.seq),
                    expected=state,
                    now_ns=1,
                )


async def longest_block(stop: asyncio.Event) -> float:
    """The longest time, in seconds, that the event loop came round late.

    It rests in between: a loop that never rests keeps the database's threads from the interpreter,
    five milliseconds at each crossing, and would measure itself.
    """
    longest = 0.0
    while not stop.is_set():
        began = time.perf_counter()
        await asyncio.sleep(LOOK_S)
        longest = max(longest, time.perf_counter() - began - LOOK_S)
    return longest


async def measure(engine: TurnEngine, stored: int, at_once: int) -> Row:
    taken: list[float] = []

    async def talk(session: SessionId, turns: int) -> None:
        speaker = Speaker(person=PersonId("console:me"), name="me")
        for _ in range(turns):
            entry = NewMessage(
                role=Role.USER,
                text="我的貓叫什麼名字？",
                sent_at_ns=time.time_ns(),
                speaker=speaker,
            )
            began = time.perf_counter()
            await engine.answer(TurnContext(session=session), entry)
            taken.append(time.perf_counter() - began)

    stop = asyncio.Event()
    began = time.perf_counter()
    async with asyncio.TaskGroup() as tasks:
        watch = tasks.create_task(longest_block(stop))
        async with asyncio.TaskGroup() as talks:
            for number in range(at_once):
                talks.create_task(talk(SessionId(f"cli-{number}"), TURNS // at_once))
        elapsed = time.perf_counter() - began
        stop.set()
    cuts = statistics.quantiles(taken, n=20)
    return Row(
        stored=stored,
        sessions=at_once,
        p50_ms=round(statistics.median(taken) * 1e3, 2),
        p95_ms=round(cuts[-1] * 1e3, 2),
        turns_per_s=round(len(taken) / elapsed, 1),
        longest_block_ms=round(watch.result() * 1e3, 2),
    )


async def main(*, as_json: bool) -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    rows: list[Row] = []
    if not as_json:
        print("stored  sessions  p50 ms  p95 ms  turns/s  longest block ms", flush=True)
    for stored in STORED:
        with tempfile.TemporaryDirectory() as place:
            chat, directory = Instant(), Path(place)
            models = Models(chat=chat, summary=chat, extract=chat)
            async with (
                open_database(directory / "kith.db") as database,
                open_engine(
                    database=database,
                    models=models,
                    directory=directory,
                    settings=MemorySettings(),
                    clock=Clock(),
                ) as engine,
            ):
                await fill(database, stored)
                turns = TurnEngine(engine=engine, chat=chat, clock=Clock())
                for at_once in AT_ONCE:
                    rows.append(await measure(turns, stored, at_once))
                    if not as_json:
                        show(rows[-1])
    if as_json:
        print(json.dumps([asdict(row) for row in rows]))


def show(row: Row) -> None:
    print(
        f"{row.stored:>6}  {row.sessions:>8}  {row.p50_ms:>6}  {row.p95_ms:>6}"
        f"  {row.turns_per_s:>7}  {row.longest_block_ms:>16}",
        flush=True,
    )


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--json", action="store_true")
    asyncio.run(main(as_json=options.parse_args().json))
