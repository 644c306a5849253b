"""What the pools put first when a fact changed: `python benchmarks/pool_updates.py [--people 12] [--json]`.

The talk and the figures are those of `benchmarks/updates.py`, which asks the messages alone. Here each
message is distilled by a scripted extractor, once one that names the note that a change replaces
(`ids`), once one that never does, so that the words alone must tell (`words`). The facts are ranked
by their words, without vectors.
"""

import argparse
import asyncio
import json
import random
import re
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import structlog

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent))

from updates import FACTS, NAMES, START_NS, FactHistory, figures, talk

from memory.database import sessions_table
from memory.database.database import Database, open_database
from memory.pools import entries_table
from memory.pools.deconstruct_pass import Deconstructor, SourceTurn
from memory.pools.entry import Source, SourceKind
from memory.pools.ranking import EntryQuery, rank, visible
from memory.ports import ChatRequest, Completion, ModelLimits
from memory.values import PersonId, SessionId, Speaker

DAY_NS = 86_400 * 10**9
SENTENCES = {
    "en": (
        ("{name} lives in {value}.", "{name} moved and now lives in {value}."),
        ("{name} works at {value}.", "{name} now works at {value}."),
        ("{name}'s favourite drink is {value}.", "{name}'s favourite drink is now {value}."),
        ("{name} is learning {value}.", "{name} is now learning {value} instead."),
    ),
    "zh": (
        ("{name}住在{value}", "{name}搬到{value}住"),
        ("{name}在{value}上班", "{name}換到{value}上班"),
        ("{name}最喜歡喝{value}", "{name}現在最喜歡喝{value}"),
        ("{name}在學{value}", "{name}現在改學{value}"),
    ),
}
"""What a good extractor makes of each fact: stated first, stated as a change. In the order of `FACTS`."""
NOTE = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)


class Extractor:
    """Answers as a good small model would."""

    name = "scripted"

    def __init__(self, facts: dict[str, tuple[int, str]], *, by_ids: bool) -> None:
        self._facts = facts
        self._of = {fact: kind for kind, fact in facts.values()}
        self._by_ids = by_ids

    async def limits(self) -> ModelLimits:
        return ModelLimits(context_tokens=8192, prompt_tokens=4096, reply_tokens=512)

    async def complete(self, request: ChatRequest) -> Completion:
        asked = request.messages[-1].text
        text = asked.partition(" wrote:\n")[2].partition("\n\nReply:")[0]
        if text not in self._facts:
            return Completion(text='{"facts": []}')
        kind, fact = self._facts[text]
        old = [int(number) for number, note in NOTE.findall(asked) if self._of.get(note) == kind]
        entry = {"fact": fact, "replaces": old if self._by_ids else []}
        return Completion(text=json.dumps({"facts": [entry]}, ensure_ascii=False))


def _distilled(
    histories: list[FactHistory], language: str, name: str
) -> dict[str, tuple[int, str]]:
    """What each telling is to become, with the fact that it is about."""
    facts = {}
    for kind, one in enumerate(histories):
        first, change = SENTENCES[language][kind]
        for at, text in enumerate(one.texts):
            [value] = [value for value in one.fact.values if value in text]
            facts[text] = (kind, (change if at else first).format(name=name, value=value))
    return facts


async def person(
    database: Database, language: str, number: int, *, by_ids: bool
) -> list[tuple[str, float]]:
    """One person's talk, distilled and asked about."""
    name = NAMES[language][number % len(NAMES[language])]
    session = SessionId(f"{language}-{number}-{by_ids}")
    messages, histories = talk(language, random.Random(number))
    speaker = Speaker(person=PersonId(f"bench:{language}-{number}"), name=name)
    facts = _distilled(histories, language, name)
    extractor = Deconstructor(database=database, model=Extractor(facts, by_ids=by_ids))
    async with database.unit() as unit:
        await sessions_table.touch(unit, session, title="", now_ns=START_NS)
    for at, (day, text) in enumerate(messages):
        await extractor.run(
            SourceTurn(
                session=session,
                epoch=0,
                speaker=speaker,
                text=text,
                reply="I see.",
                said_at_ns=START_NS + day * DAY_NS + at * 60 * 10**9,
                source=Source(kind=SourceKind.TURN, id=str(at)),
            )
        )
    async with database.reading() as reader:
        entries = visible(await entries_table.every(reader, session), speaker.person)

    def order(question: str) -> list[str]:
        return [one.entry.content for one in rank(entries, EntryQuery(text=question))]

    found: list[tuple[str, float]] = []
    for one in histories:
        texts = tuple(facts[text][1] for text in one.texts)
        as_stored = FactHistory(fact=one.fact, texts=texts)
        found += list(figures(order(one.fact.now.format(name)), as_stored).items())
        first = [text for text in order(one.fact.first.format(name)) if text in texts]
        found.append(("earliest-first", float(first[:1] == [texts[0]])))
    return found


async def run(people: int) -> dict[str, dict[str, float]]:
    """The averages by language and extractor."""
    results = {}
    with tempfile.TemporaryDirectory() as directory:
        async with open_database(Path(directory) / "kith.db") as database:
            for language in FACTS:
                for by_ids in (True, False):
                    sums: dict[str, list[float]] = defaultdict(list)
                    for number in range(people):
                        for name, value in await person(database, language, number, by_ids=by_ids):
                            sums[name].append(value)
                    key = f"{language} {'ids' if by_ids else 'words'}"
                    results[key] = {name: sum(all_) / len(all_) for name, all_ in sums.items()}
    return results


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    parser.add_argument("--people", type=int, default=12, help="per language")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    results = asyncio.run(run(arguments.people))
    if arguments.json:
        print(json.dumps(results, indent=1))
        return
    for key, averages in results.items():
        print(f"{key:<9}", " ".join(f"{name} {value:.3f}" for name, value in averages.items()))


if __name__ == "__main__":
    main()
