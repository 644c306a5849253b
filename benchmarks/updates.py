"""What recall puts first when a fact changed: the value of now, and the first one when that is asked.

    python benchmarks/updates.py [--people 12] [--json] [--cache DIRECTORY]

Each person tells several facts, each of them at least three times with another value, weeks apart,
among everyday messages; in English and in Traditional Chinese. Asked is what holds now, and what
held at first. `current-first`: among the messages that tell a value, the current one comes first.
`stale-above`: an outdated one comes before it. `earliest-first`: the same for the first value.
Messages alone are measured here, before any distilled fact has a say.
The extra `embedded` holds the embedding model.
"""

import argparse
import asyncio
import json
import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import structlog

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent))

from recall import Bench, opened

from memory.archive import messages_table
from memory.database import sessions_table
from memory.recall.embed_pass import EmbedPass
from memory.recall.query import Query
from memory.values import NewMessage, PersonId, Role, SessionId, Speaker

START_NS = 1_680_000_000 * 10**9
DAY_NS = 86_400 * 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """Something about a person that changes."""

    values: tuple[str, ...]
    statements: tuple[str, ...]
    """The first one tells the first value, the others a change."""
    now: str
    first: str


FACTS = {
    "en": (
        Fact(
            values=("Taipei", "Kyoto", "Berlin", "Lisbon"),
            statements=(
                "I live in {} and like my street.",
                "I moved, my home is in {} these days.",
            ),
            now="Where does {} live now?",
            first="Where did {} live at first?",
        ),
        Fact(
            values=("a bakery", "a law firm", "the city library", "a shipyard"),
            statements=("I work at {} from Monday to Friday.", "New job! I have started at {}."),
            now="Where does {} work at the moment?",
            first="Where did {} work originally?",
        ),
        Fact(
            values=("green tea", "espresso", "oat milk", "ginger ale"),
            statements=("My favourite drink is {}.", "I changed my mind, {} is what I drink now."),
            now="What is {}'s favourite drink now?",
            first="What was {}'s favourite drink in the beginning?",
        ),
        Fact(
            values=("the cello", "the harp", "drums", "the oboe"),
            statements=("I am learning {} on Sundays.", "I gave that up and practise {} instead."),
            now="Which instrument does {} play these days?",
            first="Which instrument did {} learn first?",
        ),
    ),
    "zh": (
        Fact(
            values=("台北", "京都", "柏林", "里斯本"),
            statements=("我住在{}，很喜歡那條街。", "我搬家了，現在的家在{}。"),
            now="{}現在住在哪裡？",
            first="{}一開始住在哪裡？",
        ),
        Fact(
            values=("麵包店", "律師事務所", "市立圖書館", "造船廠"),
            statements=("我在{}上班，週一到週五。", "換工作了，我開始在{}上班。"),
            now="{}目前在哪裡上班？",
            first="{}原本在哪裡上班？",
        ),
        Fact(
            values=("綠茶", "濃縮咖啡", "燕麥奶", "薑汁汽水"),
            statements=("我最喜歡喝{}。", "我改變主意了，現在都喝{}。"),
            now="{}現在最喜歡喝什麼？",
            first="{}最初最喜歡喝什麼？",
        ),
        Fact(
            values=("大提琴", "豎琴", "爵士鼓", "雙簧管"),
            statements=("我每個星期天學{}。", "我不學那個了，改練{}。"),
            now="{}現在在練什麼樂器？",
            first="{}最早學的是什麼樂器？",
        ),
    ),
}
NAMES = {
    "en": ("Momo", "Nina", "Oscar", "Petra", "Quentin", "Rosa"),
    "zh": ("小美", "阿明", "建宏", "淑芬", "志偉", "怡君"),
}
SMALL_TALK = {
    "en": (
        "It rained all morning here.",
        "I could not sleep last night.",
        "The bus was late again.",
        "We watched a film about whales.",
        "My sister called about the holidays.",
        "I need to buy batteries.",
    ),
    "zh": (
        "今天早上一直在下雨。",
        "昨天晚上睡不好。",
        "公車又遲到了。",
        "我們看了一部關於鯨魚的電影。",
        "我姊姊打電話來講放假的事。",
        "我得去買電池。",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FactHistory:
    """The messages that state one fact: message texts, oldest first."""

    fact: Fact
    texts: tuple[str, ...]


def talk(language: str, random_: random.Random) -> tuple[list[tuple[int, str]], list[FactHistory]]:
    """A person's messages with the day of each, and the facts that they state."""
    histories = []
    messages: list[tuple[int, str]] = []
    for fact in FACTS[language]:
        values = random_.sample(fact.values, random_.choice((3, 4)))
        texts = tuple(fact.statements[min(at, 1)].format(value) for at, value in enumerate(values))
        histories.append(FactHistory(fact=fact, texts=texts))
        for at, text in enumerate(texts):
            messages.append((at * 30 + random_.randrange(20), text))
    messages += [(day, random_.choice(SMALL_TALK[language])) for day in range(0, 120, 2)]
    return sorted(messages), histories


def figures(order: Sequence[str], history: FactHistory) -> dict[str, float]:
    """How the statements of a fact were ranked, for a question about now."""
    ranked = [text for text in order if text in history.texts]
    current = history.texts[-1]
    return {
        "current-first": float(ranked[:1] == [current]),
        "stale-above": float(current not in ranked or ranked.index(current) > 0),
    }


async def ask(bench: Bench, session: SessionId, question: str, now_ns: int) -> list[str]:
    """The texts that recall ranks, best first."""
    query = Query(session=session, text=question, now_ns=now_ns, whole=False)
    ranked = await bench.recall.rank(query)
    return [message.text for message in ranked.messages]


async def person(bench: Bench, language: str, number: int) -> list[tuple[str, float]]:
    """One person's talk, stored and asked about."""
    random_ = random.Random(number)
    name = NAMES[language][number % len(NAMES[language])]
    session = SessionId(f"{language}-{number}")
    messages, histories = talk(language, random_)
    speaker = Speaker(person=PersonId(f"bench:{language}-{number}"), name=name)
    async with bench.database.unit() as unit:
        row, _ = await sessions_table.touch(unit, session, title="", now_ns=START_NS)
        await messages_table.append(
            unit,
            row,
            [
                NewMessage(
                    role=Role.USER,
                    text=text,
                    sent_at_ns=START_NS + day * DAY_NS + at * 60 * 10**9,
                    speaker=speaker,
                )
                for at, (day, text) in enumerate(messages)
            ],
        )
    await EmbedPass(database=bench.database, embedder=bench.embedder).run()
    now_ns = START_NS + 130 * DAY_NS
    found: list[tuple[str, float]] = []
    for one in histories:
        now = await ask(bench, session, one.fact.now.format(name), now_ns)
        found += list(figures(now, one).items())
        first = await ask(bench, session, one.fact.first.format(name), now_ns)
        ranked = [text for text in first if text in one.texts]
        found.append(("earliest-first", float(ranked[:1] == [one.texts[0]])))
    return found


async def run(people: int, cache: Path | None) -> dict[str, dict[str, float]]:
    """The averages by language."""
    results = {}
    with tempfile.TemporaryDirectory() as directory:
        async with opened(Path(directory) / "kith.db", cache) as bench:
            for language in FACTS:
                sums: dict[str, list[float]] = defaultdict(list)
                for number in range(people):
                    for name, value in await person(bench, language, number):
                        sums[name].append(value)
                results[language] = {name: float(np.mean(all_)) for name, all_ in sums.items()}
    return results


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    parser.add_argument("--people", type=int, default=12, help="per language")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--cache", type=Path, help="keep vectors here between runs")
    arguments = parser.parse_args()
    if arguments.cache:
        arguments.cache.mkdir(parents=True, exist_ok=True)
    results = asyncio.run(run(arguments.people, arguments.cache))
    if arguments.json:
        print(json.dumps(results, indent=1))
        return
    for language, averages in results.items():
        print(language, " ".join(f"{name} {value:.3f}" for name, value in averages.items()))


if __name__ == "__main__":
    main()
