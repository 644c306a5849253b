"""Two people who talk to the bot in a group and each alone: what recall and export show of whom."""

from contextlib import asynccontextmanager

import pytest

from memory.recall.query import Query
from memory.recall.slot import pack
from memory.transfer.exporting import export
from memory.values import Mode, SessionId
from tests.fakes import NOON_NS, FakeEmbedder
from tests.memory.modes.test_modes import a_talk, extractor
from tests.memory.pools.stage import ANNA, MING
from tests.memory.transfer.stage import quiet

GROUP = SessionId("tg-1--5")
ROOMS = {ANNA.name: SessionId("tg-1-7"), MING.name: SessionId("tg-1-8")}
ANNAS, MINGS, COMMON = "violin", "trumpet", "chess"
MODES = pytest.mark.parametrize("mode", list(Mode))
PLACES = pytest.mark.parametrize(
    ("place", "belongs", "foreign"),
    [
        (ROOMS[ANNA.name], {ANNAS}, {MINGS, COMMON}),
        (ROOMS[MING.name], {MINGS}, {ANNAS, COMMON}),
        (GROUP, {COMMON}, {ANNAS, MINGS}),
    ],
    ids=["Anna", "Ming", "group"],
)


@asynccontextmanager
async def two_people(directory, mode):
    """A talk in which each told a secret alone, and both spoke in the group."""
    directory.mkdir()
    async with a_talk(directory, mode, extractor, embed=FakeEmbedder()) as talk:
        for one, secret in ((ANNA, ANNAS), (MING, MINGS)):
            await talk.say(f"I hide a {secret}", speaker=one, session=ROOMS[one.name])
            await talk.say(f"I like {COMMON}", speaker=one, session=GROUP, group=True)
        await talk.catch_up()
        await talk.engine.search.catch_up()
        yield talk


@MODES
@PLACES
async def test_recall_finds_what_was_said_there_alone(tmp_path, mode, place, belongs, foreign):
    async with two_people(tmp_path / "data", mode) as talk:
        text = f"who plays {ANNAS}, {MINGS} or {COMMON}?"
        ranked = await talk.engine.search.recall.rank(
            Query(session=place, text=text, now_ns=NOON_NS)
        )

    said = " ".join(
        one.message.text for one in pack(ranked, budget_tokens=1_000, zone=None).snippets
    )
    assert not any(word in said for word in foreign)
    assert all(word in said for word in belongs) is (mode is not Mode.POOLS)


@MODES
@PLACES
async def test_an_export_holds_that_conversation_alone(tmp_path, mode, place, belongs, foreign):
    async with two_people(tmp_path / "data", mode) as talk, talk.database.reading() as reader:
        await export(
            reader, place, tmp_path / "out", pages_from=tmp_path, zone=None, progress=quiet
        )

    written = {one.name: one.read_text(encoding="utf-8") for one in (tmp_path / "out").iterdir()}
    assert not any(word in text for word in foreign for text in written.values())
    kept = {Mode.FULL: {"history.json", "short_term.json"}, Mode.WINDOW: {"history.json"}}
    holding = {name for name, text in written.items() if all(word in text for word in belongs)}
    assert holding == kept.get(mode, {"short_term.json"})
