"""What memory work costs in model tokens: `python benchmarks/memory_tokens.py [--turns 200] [--json]`.

A scripted model answers at once and counts what a real one would read and write: the prompt, the
part of it that a server with one prompt cache would still hold (the longest common beginning with
the call before), and the answer. The talk mixes Chinese and English, small talk, questions, facts
and changes, as people do. In `pools` mode the size of the chat prompt is shown as well, early and
late: it grows until the pools hold the five facts that a prompt shows, and no further. This mix,
of which refining leaves little, comes to five at about turn 250 (four on average from 100 to 200),
so turn 200 lies 9 % below turn 2,000; from turn 300 to 2,000 the average of a hundred turns stays
between 324 and 333 tokens.
"""

import argparse
import asyncio
import json
import random
import re
import tempfile
from collections import defaultdict
from collections.abc import AsyncGenerator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import structlog

from bot.turn.interface import TurnContext
from bot.turn.turns import TurnEngine
from memory.database.database import open_database
from memory.engine import Engine, open_engine
from memory.language.text import estimate_tokens
from memory.ports import ChatChunk, ChatRequest, Completion, ModelLimits, Models
from memory.settings import MemorySettings
from memory.values import Mode, NewMessage, PersonId, Role, SessionId, Speaker

SMALL_TALK = "Hi!|早安|thanks a lot!|謝謝你～|ok|好的|哈哈哈|good night|晚安|lol|嗯嗯|👍".split("|")
QUESTIONS = (
    "What should I cook tonight with two eggs and some rice?|今天台北會下雨嗎？|How do I undo a git commit?"
    "|可以推薦一部輕鬆的電影嗎？|Why is the sky blue at noon and red in the evening?|怎麼把照片從手機傳到電腦？"
    "|Can you explain what a mutex is in one paragraph?|請問「因此」和「所以」有什麼差別？"
).split("|")
FACTS = (
    "My sister {n} lives in Kaohsiung and teaches piano.|我下個月要去第{n}個城市出差，會待三天。"
    "|I started learning Spanish, lesson {n} was hard.|我養了一隻叫麻糬{n}號的貓，很黏人。"
    "|I am allergic to shrimp, please keep that in mind for recipe {n}.|我最近開始晨跑，今天跑了{n}公里。"
    "|My favourite tea is oolong number {n}.|我跟同事阿宏{n}約好週五一起打羽球。"
).split("|")
CHANGES = (
    "I moved to district {n} last week.|我現在改在第{n}分公司上班了。|My meeting is now at {n} o'clock on Friday."
    "|我把密碼提示改成第{n}號了。"
).split("|")
MIX = ((SMALL_TALK, 0.3), (QUESTIONS, 0.3), (FACTS, 0.3), (CHANGES, 0.1))
REPLY = (
    "That sounds good. Here is what I would do: take it step by step, start with the simplest part, and"
    " tell me how it went. 如果需要我再說明，隨時告訴我。"
)


@dataclass
class Cost:
    """Model tokens of one kind of call."""

    calls: int = 0
    prompt: int = 0
    cached: int = 0
    written: int = 0


class Counting:
    """A model that answers by the kind of call and counts."""

    name = "counting"

    def __init__(self) -> None:
        self.costs: dict[str, Cost] = defaultdict(Cost)
        self._last = ""

    async def limits(self) -> ModelLimits:
        return ModelLimits(context_tokens=8192, prompt_tokens=3000, reply_tokens=512)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatChunk, None]:
        kind, answer = _answer(request)
        whole = "\n".join(message.text for message in request.messages)
        cost = self.costs[kind]
        cost.calls += 1
        cost.prompt += estimate_tokens(whole)
        cost.cached += estimate_tokens(_common(self._last, whole))
        cost.written += estimate_tokens(answer)
        self._last = whole
        yield ChatChunk(text=answer)
        yield ChatChunk(done=Completion(text=answer))

    async def complete(self, request: ChatRequest) -> Completion:
        async for chunk in self.stream(request):
            if chunk.done:
                return chunk.done
        raise AssertionError("a stream ends with done")


def _common(one: str, other: str) -> str:
    length = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
    return other[:length]


def _answer(request: ChatRequest) -> tuple[str, str]:
    text = request.messages[-1].text
    if request.schema is None:
        return "chat", REPLY
    if " wrote:\n" in text:
        said = text.partition(" wrote:\n")[2].partition("\n\nReply:")[0]
        has_fact = not said.endswith(("?", "？"))
        facts = [{"fact": f"Ann: {said[:100]}"}] if has_fact else []
        return "deconstruct", json.dumps({"facts": facts}, ensure_ascii=False)
    if "facts" in request.schema.get("properties", {}):
        lines = re.findall(r"^- (.*)$", text, re.MULTILINE)
        return "refine", json.dumps({"facts": lines[:2]}, ensure_ascii=False)
    topics = [{"topic": f"t{n}", "direction": "fine so far", "last_discussed": "2026-01-01 00:00:00"}
              for n in range(4)]  # fmt: skip
    notes = {"key_decisions": ["Do: answer briefly"], "past_discussions": topics,
             "current_discussion": {"topic": "this and that", "direction": "open"}}  # fmt: skip
    return "summary", json.dumps(notes)


class Clock:
    """Half a minute a turn."""

    def __init__(self) -> None:
        self._now_ns = 1_800_000_000 * 10**9

    def now_ns(self) -> int:
        self._now_ns += 10 * 10**9
        return self._now_ns


async def talk(mode: Mode, turns: int) -> dict[str, Any]:
    """So many turns in one mode, with all the work that they bring."""
    model, clock, sizes = Counting(), Clock(), {}
    with tempfile.TemporaryDirectory() as place:
        async with (
            open_database(Path(place) / "kith.db") as database,
            open_engine(
                database=database,
                models=Models(chat=model, summary=model, extract=model),
                directory=Path(place),
                settings=MemorySettings(),
                clock=clock,
            ) as engine,
        ):
            lines = _lines(turns)
            for number, text in enumerate(lines, 1):
                before = model.costs["chat"].prompt
                await _turn(engine, model, clock, mode, text)
                sizes[number] = model.costs["chat"].prompt - before
                await _afterwards(engine, number)
    marks = [mark for mark in (50, 200, 2_000) if mark <= turns]
    return {
        "mode": mode.value,
        "turns": turns,
        "costs": {kind: asdict(cost) for kind, cost in model.costs.items()},
        "chat_prompt_tokens": {mark: _around(sizes, mark) for mark in marks},
    }


def _around(sizes: dict[int, int], mark: int) -> int:
    near = [size for number, size in sizes.items() if mark - 40 < number <= mark]
    return sum(near) // len(near)


def _lines(turns: int) -> list[str]:
    chance = random.Random(7)
    kinds = chance.choices([kind for kind, _ in MIX], [weight for _, weight in MIX], k=turns)
    return [chance.choice(kind).format(n=number) for number, kind in enumerate(kinds)]


async def _turn(engine: Engine, model: Counting, clock: Clock, mode: Mode, text: str) -> None:
    speaker = Speaker(person=PersonId("console:ann"), name="Ann")
    entry = NewMessage(role=Role.USER, text=text, sent_at_ns=clock.now_ns(), speaker=speaker)
    turns = TurnEngine(engine=engine, chat=model, clock=clock)
    await turns.answer(TurnContext(session=SessionId("cli-x"), title="x", mode=mode), entry)


async def _afterwards(engine: Engine, number: int) -> None:
    while (found := engine.afterwork.take_queued()) is not None:
        await engine.afterwork.do(*found)
    if number % 30 == 0:  # a quarter of an hour of talk
        for session in await engine.summaries.due():
            await engine.summaries.refresh(session)


def show(result: dict[str, Any]) -> None:
    """A table for people."""
    turns = result["turns"]
    print(
        f"\n{result['mode']}, {turns} turns; chat prompt near turn: {result['chat_prompt_tokens']}"
    )
    print(f"{'work':<12} {'calls':>6} {'prompt':>8} {'cached':>8} {'written':>8}  tokens a turn")
    for kind, cost in result["costs"].items():
        each = f"{cost['prompt'] / turns:.0f} in ({cost['cached'] / turns:.0f} cached), "
        each += f"{cost['written'] / turns:.1f} out"
        print(f"{kind:<12} {cost['calls']:>6} {cost['prompt']:>8} {cost['cached']:>8}"
              f" {cost['written']:>8}  {each}")  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    results = [asyncio.run(talk(mode, given.turns)) for mode in Mode]
    if given.json:
        print(json.dumps(results, indent=2))
    else:
        for result in results:
            show(result)


if __name__ == "__main__":
    main()
