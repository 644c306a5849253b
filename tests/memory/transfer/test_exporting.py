import asyncio
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.archive import messages_table
from memory.database import sessions_table
from memory.database.database import open_database
from memory.language.text import scrub
from memory.pools import entries_table
from memory.pools.entry import NewEntry, Pool, Scope, Tag
from memory.summary import summaries_table
from memory.summary.summaries_table import Cursor
from memory.summary.value import Current, Summary
from memory.transfer.exporting import ExportRefused, export
from memory.values import NewMessage, PersonId, Role, SessionId, Speaker
from tests.memory.transfer.stage import bring_in, entries, messages, quiet, summary

SESSION = SessionId("tg-1-456")
ANNA = Speaker(person=PersonId("telegram:1"), name="Anna 安娜")
NS = 10**9


@pytest.fixture
async def database(tmp_path):
    async with open_database(tmp_path / "kith.db") as opened:
        yield opened


async def fill(database, said, *, cursor=None, facts=()):
    async with database.unit() as unit:
        number, _ = await sessions_table.touch(unit, SESSION, title="", now_ns=1)
        seqs = await messages_table.append(unit, number, said)
        if cursor is not None:
            await summaries_table.save(
                unit,
                SESSION,
                summary=Summary(
                    key_decisions=("Do: 綠茶",), current_discussion=Current(topic="茶")
                ),
                cursor=Cursor(seq=seqs[cursor]),
                expected=await summaries_table.state(unit, SESSION),
                now_ns=1,
            )
        numbers = [await entries_table.add(unit, SESSION, fact) for fact in facts]
        if len(numbers) > 1:
            await entries_table.supersede(unit, numbers[0], by=numbers[-1])


async def write(database, target, pages_from):
    async with database.reading() as reader:
        return await export(
            reader, SESSION, target, pages_from=pages_from, zone=None, progress=quiet
        )


def said(text, at_ns, role=Role.USER):
    speaker = ANNA if role is Role.USER else None
    return NewMessage(role=role, text=text, sent_at_ns=at_ns, speaker=speaker)


def fact(content, pool, at_ns=5, scope=Scope.PERSON):
    return NewEntry(
        content=content, pool=pool, tag=Tag.EVENT, said_at_ns=at_ns, scope=scope, speaker=ANNA
    )


def without_rows(values):
    """Messages without the numbers that a database gives them."""
    return [(one.role, one.text, one.sent_at_ns, one.speaker, one.platform_id) for one in values]


def facts_of(values):
    content = {one.id: one.content for one in values}
    return {
        (
            one.pool,
            one.content,
            one.tag,
            one.scope,
            one.speaker,
            one.said_at_ns,
            content.get(one.superseded_by),
        )
        for one in values
    }


texts = st.text(min_size=1).map(scrub).filter(str.strip) | st.sampled_from(
    ["我喜歡綠茶。", "It's 90% c++", "👩‍👩‍👧 ok", "---\n當前時間: 2024-01-01 00:00:00\n---\nx"]
)


@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.tuples(texts, st.integers(1, 2**62), st.sampled_from(Role)),
        min_size=1,
        max_size=8,
        unique_by=lambda one: one[1],
    ).map(lambda found: sorted(found, key=lambda one: one[1])),
    st.lists(st.text("綠茶 abc😀", min_size=1, max_size=40), max_size=4, unique=True),
)
def test_what_is_exported_reads_back_equal(history, contents):
    facts = [fact(" ".join(content.split()), Pool.LONG) for content in contents if content.strip()]
    facts = list({one.content: one for one in facts}.values())

    async def there_and_back(root):
        async with open_database(root / "a.db") as first, open_database(root / "b.db") as second:
            await fill(first, [said(*one) for one in history], facts=facts)
            await write(first, root / SESSION, root)
            await bring_in(root / SESSION, second)
            assert without_rows(await messages(second, SESSION)) == without_rows(
                await messages(first, SESSION)
            )
            assert facts_of(await entries(second, SESSION)) == facts_of(
                await entries(first, SESSION)
            )

    with tempfile.TemporaryDirectory() as directory:
        asyncio.run(there_and_back(Path(directory)))


async def test_the_summary_comes_back_with_its_cursor(database, tmp_path):
    await fill(database, [said("a", 5 * NS), said("b", 6 * NS + 7), said("c", 7 * NS)], cursor=1)
    await write(database, tmp_path / SESSION, tmp_path)

    async with open_database(tmp_path / "other.db") as other:
        await bring_in(tmp_path / SESSION, other)
        held, stored = await summary(other, SESSION), await messages(other, SESSION)

    assert held.summary == (await summary(database, SESSION)).summary
    assert held.cursor.seq == stored[1].seq


async def test_a_message_of_the_cursors_own_second_is_never_passed_over(database, tmp_path):
    await fill(database, [said("a", 5 * NS), said("b", 6 * NS), said("late", 6 * NS + 1)], cursor=1)
    await write(database, tmp_path / SESSION, tmp_path)

    async with open_database(tmp_path / "other.db") as other:
        await bring_in(tmp_path / SESSION, other)
        held, stored = await summary(other, SESSION), await messages(other, SESSION)

    assert held.cursor.seq == stored[0].seq


async def test_the_files_are_those_of_the_seeds(database, tmp_path):
    (tmp_path / "SOUL.md").write_text("be kind")
    facts = [fact("old", Pool.SHORT), fact("new", Pool.SHORT), fact("lasting", Pool.LONG)]
    await fill(database, [said("綠茶", 5), said("好", 6, Role.ASSISTANT)], cursor=1, facts=facts)

    done = await write(database, tmp_path / "out", tmp_path)

    history = json.loads((tmp_path / "out/history.json").read_text())
    assert [(one["role"], one["content"], one["sendAt"]) for one in history] == [
        ("user", "綠茶", 5),
        ("assistant", "好", 6),
    ]
    assert len((tmp_path / "out/.summary_cursor").read_text().strip()) == len("2024-01-01 00:00:00")
    assert len(json.loads((tmp_path / "out/short_term.json").read_text())) == 2
    assert json.loads((tmp_path / "out/long_term.json").read_text())[0]["content"] == "lasting"
    assert set(done.files) == {path.name for path in (tmp_path / "out").iterdir()}
    assert (tmp_path / "out/SOUL.md").read_text() == "be kind"
    assert (done.messages, done.entries) == (2, 3)
    assert (tmp_path / "out/history.json").stat().st_mode & 0o077 == 0


async def test_an_export_replaces_no_other_and_leaves_no_half_one(database, tmp_path):
    await fill(database, [said("a", 1)])
    await write(database, tmp_path / "out", tmp_path)
    with pytest.raises(ExportRefused, match="already"):
        await write(database, tmp_path / "out", tmp_path)

    (tmp_path / "SOUL.md").mkdir(exist_ok=True)  # not a file: left out
    (tmp_path / "blocked").write_text("")
    with pytest.raises(ExportRefused, match="written"):
        await write(database, tmp_path / "blocked", tmp_path)


async def test_a_session_that_is_not_there_is_refused(database, tmp_path):
    with pytest.raises(ExportRefused, match="no session"):
        await write(database, tmp_path / "out", tmp_path)

    assert not (tmp_path / "out").exists()
