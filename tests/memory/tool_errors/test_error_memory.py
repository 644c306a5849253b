import asyncio
from contextlib import asynccontextmanager

import numpy as np
import pytest

from memory.database.database import open_database
from memory.errors import ModelUnreachable, NoSuchRecord
from memory.tool_errors.error_memory import ErrorMemory
from memory.tool_errors.record import (
    LIFETIME_NS,
    ActionOutcome,
    ErrorClass,
    NewErrorRecord,
    classify,
    tidy_keywords,
)
from tests.fakes import FakeClock, FakeEmbedder

DAY_S = 86_400


def record(symptom="time_range 2w was refused", **more):
    fields = {
        "tool": "chat_history",
        "keywords": ("time_range", "2w"),
        "action": "use 7d or 1m",
        "outcome": ActionOutcome.RESOLVED,
        **more,
    }
    return NewErrorRecord(symptom=symptom, **fields)


class Found:
    def __init__(self, memory, database, clock, embedder):
        self.memory, self.database, self.clock, self.embedder = memory, database, clock, embedder

    async def symptoms(self, text, **more):
        return [one.symptom for one in await self.memory.search(text, **more)]

    async def stored(self):
        async with self.database.reading() as reader:
            return (await reader.row("SELECT count(*) AS n FROM error_memory"))["n"]


@asynccontextmanager
async def opened(directory, *, embedder=None, clock=None):
    clock = clock or FakeClock()
    async with open_database(directory / "kith.db") as database:
        memory = ErrorMemory(database=database, embedder=embedder, clock=clock)
        yield Found(memory, database, clock, embedder)


@pytest.fixture(params=["words", "meaning"])
async def found(request, tmp_path):
    embedder = FakeEmbedder() if request.param == "meaning" else None
    async with opened(tmp_path, embedder=embedder) as it:
        yield it


async def test_a_record_is_found_by_what_it_says(found):
    await found.memory.write(record())

    assert await found.symptoms("the time_range 2w was refused") == ["time_range 2w was refused"]


async def test_a_record_is_found_in_chinese_by_a_word_of_two_characters(found):
    await found.memory.write(record("日期格式錯誤，必須是西元年", keywords=("日期", "西元")))

    assert await found.symptoms("日期") == ["日期格式錯誤，必須是西元年"]


async def test_keywords_match_in_both_directions(found):
    await found.memory.write(record("lookup failed somehow", keywords=("quota",)))

    assert await found.symptoms("quota") == ["lookup failed somehow"]
    assert await found.symptoms("error: your monthly quota is used up, come back later") == [
        "lookup failed somehow"
    ]


async def test_nothing_related_finds_nothing(found):
    await found.memory.write(record())

    assert await found.symptoms("the picture is upside down") == []
    assert await found.symptoms("圖片上下顛倒") == []
    assert await found.symptoms("") == []
    assert await found.symptoms('") OR 1=1 -- *') == []


async def test_one_word_of_many_is_not_enough(tmp_path):
    async with opened(tmp_path) as it:
        await it.memory.write(
            record("page encoding was refused", keywords=("encoding", "page", "charset"))
        )

        assert await it.symptoms("encoding of a page, refused") == ["page encoding was refused"]
        assert await it.symptoms("which chapter of the novel has that strange page") == []


async def test_an_empty_memory_finds_nothing(found):
    assert await found.symptoms("anything") == []


async def test_a_record_written_without_an_embedder_is_embedded_later(tmp_path):
    async with opened(tmp_path) as before:
        await before.memory.write(record())
    async with opened(tmp_path, embedder=FakeEmbedder()) as it:
        assert await it.symptoms("time_range 2w refused") == ["time_range 2w was refused"]

        assert await it.memory.catch_up() == 1
        assert await it.memory.catch_up() == 0


async def test_vectors_of_another_model_are_replaced_and_never_compared(tmp_path):
    async with opened(tmp_path, embedder=FakeEmbedder(name="fake:old", dim=64)) as before:
        await before.memory.write(record())
    async with opened(tmp_path, embedder=FakeEmbedder(name="fake:new", dim=128)) as it:
        assert await it.symptoms("time_range 2w refused") == ["time_range 2w was refused"]
        assert await it.memory.catch_up() == 1
        assert await it.symptoms("time_range 2w refused") == ["time_range 2w was refused"]


@pytest.mark.looptime
async def test_an_embedder_that_returns_too_few_vectors_gives_none_to_the_wrong_record(tmp_path):
    embedder = FakeEmbedder()
    async with opened(tmp_path) as before:
        await before.memory.write(record())
        await before.memory.write(record(symptom="another failed"))
    async with opened(tmp_path, embedder=embedder) as it:
        whole = embedder.embed

        async def short(texts, *, priority):
            return (await whole(texts, priority=priority))[:1]

        embedder.embed = short
        with pytest.raises(ValueError, match="shorter"):
            await it.memory.catch_up()
        embedder.embed = whole

        assert await it.memory.catch_up() == 2


async def test_a_silent_embedder_delays_a_hint_only_a_little(tmp_path):
    embedder = FakeEmbedder(delay_s=3600)
    async with opened(tmp_path, embedder=embedder) as it:
        await it.memory.write(record())
        began = asyncio.get_running_loop().time()

        assert await it.symptoms("time_range 2w refused") == ["time_range 2w was refused"]
        assert asyncio.get_running_loop().time() - began <= 6


async def test_an_embedder_that_is_down_leaves_the_words(tmp_path):
    embedder = FakeEmbedder()
    embedder.error = ModelUnreachable("down")
    async with opened(tmp_path, embedder=embedder) as it:
        await it.memory.write(record())

        assert await it.symptoms("time_range 2w refused") == ["time_range 2w was refused"]


async def test_hints_are_about_the_same_tool_at_most_three_newest_first(found):
    for n in range(5):
        await found.memory.write(record(f"time_range 2w was refused ({n})"))
        found.clock.advance(1)
    await found.memory.write(record("time_range 2w was refused (other)", tool="other"))

    hints = await found.memory.hints("chat_history", "error: time_range 2w refused")

    assert len(hints) == 3
    times = [one.written_at_ns for one in hints]
    assert times == sorted(times, reverse=True)
    assert {one.tool for one in hints} == {"chat_history"}


async def test_hints_know_the_class_of_an_error_of_the_same_tool(found):
    await found.memory.write(record("gave up: timed out", keywords=("slow",)))

    assert len(await found.memory.hints("chat_history", "no result: timeout after 9 s")) == 1
    assert await found.memory.hints("chat_history", "error: permission denied") == []
    assert await found.memory.hints("other", "no result: timeout after 9 s") == []


async def test_a_record_is_gone_after_ninety_one_days(found):
    await found.memory.write(record())

    found.clock.advance(91 * DAY_S)

    assert await found.symptoms("time_range 2w refused") == []
    assert await found.memory.newest() == []
    assert await found.memory.hints("chat_history", "time_range 2w refused") == []
    assert await found.memory.sweep() == 1
    assert await found.stored() == 0


async def test_a_record_lives_exactly_ninety_days(found):
    written = await found.memory.write(record())

    assert written.expires_at_ns - written.written_at_ns == LIFETIME_NS == 90 * DAY_S * 10**9
    found.clock.advance(90 * DAY_S, ns=-1)
    assert len(await found.memory.newest()) == 1
    found.clock.advance(ns=1)
    assert await found.memory.newest() == []


async def test_by_meaning_a_record_is_found_by_other_words(tmp_path):
    async with opened(tmp_path, embedder=FakeEmbedder()) as found:
        for symptom in ("uploading pictures", "日期格式錯誤", "the server hung up"):
            await found.memory.write(record(symptom, keywords=(), action="none"))

        assert await found.symptoms("uploadin gpictures") == ["uploading pictures"]


async def test_from_the_moment_it_expires_a_record_is_given_to_nobody(found):
    written = await found.memory.write(record("a timeout"))
    found.clock.advance(90 * DAY_S)

    assert await found.symptoms("a timeout") == []
    assert await found.memory.hints("chat_history", "a timeout") == []
    with pytest.raises(NoSuchRecord):
        await found.memory.read(written.id)
    assert await found.memory.sweep() == 1


async def test_a_record_returned_on_day_80_lives_to_day_170(found):
    await found.memory.write(record())
    found.clock.advance(80 * DAY_S)

    assert await found.symptoms("time_range 2w refused")

    found.clock.advance(89 * DAY_S)
    assert len(await found.memory.newest()) == 1
    assert await found.memory.sweep() == 0
    found.clock.advance(DAY_S)
    assert await found.memory.newest() == []


async def test_records_that_a_search_does_not_return_are_not_renewed(found):
    await found.memory.write(record())
    await found.memory.write(record("the picture was upside down", keywords=("picture",)))
    found.clock.advance(80 * DAY_S)

    assert await found.symptoms("the picture is upside down") == ["the picture was upside down"]

    found.clock.advance(11 * DAY_S)
    assert [one.symptom for one in await found.memory.newest()] == ["the picture was upside down"]


async def test_listing_and_reading_renew_nothing(found):
    written = await found.memory.write(record())
    found.clock.advance(80 * DAY_S)

    await found.memory.newest()
    await found.memory.read(written.id)

    found.clock.advance(11 * DAY_S)
    assert await found.memory.newest() == []


async def test_a_short_unique_beginning_of_an_id_names_a_record(found):
    written = await found.memory.write(record())

    assert (await found.memory.read(written.id)).symptom == written.symptom
    assert (await found.memory.read(written.id[:8].upper() + " ")).id == written.id


@pytest.mark.parametrize("id_", ["", "abc", "zzzz", "ffffffff", "%", "a' OR '1'='1", "0" * 65])
async def test_an_unknown_id_is_an_error(found, id_):
    await found.memory.write(record())

    with pytest.raises(NoSuchRecord):
        await found.memory.read(id_)


async def test_an_ambiguous_beginning_is_an_error(found):
    async with found.database.unit() as unit:
        for tail in ("aa", "ab"):
            await unit.execute(
                "INSERT INTO error_memory (id, tool, error_class, keywords, symptom, action,"
                " outcome, written_at_ns, expires_at_ns)"
                " VALUES (?, 't', 'other', '[]', 's', 'a', 'failed', 1, ?)",
                ("beef" + tail, found.clock.now_ns() + 1),
            )

    with pytest.raises(NoSuchRecord, match="several"):
        await found.memory.read("beef")
    assert (await found.memory.read("beefaa")).id == "beefaa"


async def test_a_removed_record_is_found_by_nothing(found):
    written = await found.memory.write(record())
    await found.symptoms("time_range 2w refused")

    assert (await found.memory.remove(written.id[:6])).id == written.id

    assert await found.symptoms("time_range 2w refused") == []
    with pytest.raises(NoSuchRecord):
        await found.memory.remove(written.id)


async def test_a_record_that_another_process_removes_is_not_found(tmp_path):
    async with opened(tmp_path, embedder=FakeEmbedder()) as one:
        written = await one.memory.write(record())
        await one.symptoms("time_range 2w refused")
        async with opened(tmp_path, embedder=FakeEmbedder()) as other:
            await other.memory.remove(written.id)
            await other.memory.write(record("time_range 3w was refused"))

        assert await one.symptoms("time_range refused") == ["time_range 3w was refused"]


async def test_two_records_of_one_moment_have_two_ids(found):
    first = await found.memory.write(record())
    second = await found.memory.write(record("time_range 9w was refused"))

    assert first.id != second.id


async def test_what_is_too_long_or_odd_is_tidied(found):
    written = await found.memory.write(
        record(
            "x\x00\n" * 5_000, keywords=(" Quota ", "quota", "", "error_type:timeout", "A" * 500)
        )
    )

    assert len(written.symptom) == 600
    assert written.keywords == ("quota", "a" * 63 + "…", "error_type:other")


def test_keywords_are_lower_case_trimmed_and_unique():
    assert tidy_keywords(["B ", "b", "資料庫", ""]) == ("b", "資料庫")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("error: there is no tool of that name", ErrorClass.TOOL_NOT_EXIST),
        ("required parameter 'keyword' is missing", ErrorClass.REQUIRED_PARAM),
        ("invalid parameter 'limit': less than 33", ErrorClass.INVALID_PARAM),
        ("timeout: no result within 10 s", ErrorClass.TIMEOUT),
        ("HTTP 403 Forbidden", ErrorClass.PERMISSION),
        ("no data", ErrorClass.NO_RESULT),
        ("找不到檔案", ErrorClass.NO_RESULT),
        ("連線逾時", ErrorClass.TIMEOUT),
        ("it broke", ErrorClass.OTHER),
        (" ", ErrorClass.UNKNOWN),
    ],
)
def test_an_error_is_classed_by_its_words(text, kind):
    assert classify(text) is kind


async def test_stored_vectors_are_unit_float32(tmp_path):
    async with opened(tmp_path, embedder=FakeEmbedder(dim=64)) as it:
        await it.memory.write(record())
        async with it.database.reading() as reader:
            row = await reader.row("SELECT model, vector FROM error_memory")

    vector = np.frombuffer(row["vector"], dtype="<f4")
    assert row["model"] == "fake:embed"
    assert vector.shape == (64,)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


async def test_what_was_written_again_and_again_is_one_hint(found):
    await found.memory.write(record("time_range 2w was refused", action="ask for a month"))
    for _ in range(4):
        found.clock.advance(1)
        last = await found.memory.write(record("Time_range 2w was refused", keywords=("x",)))

    hints = await found.memory.hints("chat_history", "error: time_range 2w refused")

    assert [one.action for one in hints] == ["use 7d or 1m", "ask for a month"]
    assert hints[0].id == last.id
