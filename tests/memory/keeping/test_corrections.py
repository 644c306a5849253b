import pytest

from memory.archive import messages_table
from memory.database import sessions_table
from memory.database.database import open_database
from memory.keeping.corrections import Corrector
from memory.keeping.soundness import Soundness, check
from memory.pools import entries_table, queue_table
from memory.pools.entry import NewEntry, Pool, Scope, Source, SourceKind, Tag
from memory.recall import words_table
from memory.recall.embed_pass import EmbedPass
from memory.summary import summaries_table
from memory.summary.summaries_table import Cursor
from memory.summary.value import Summary
from memory.values import NO_SEQ, NewMessage, PersonId, Role, SessionId, Speaker
from tests.fakes import FakeEmbedder

CHAT = SessionId("tg-1-456")
OTHER = SessionId("tg-1-789")
ANNA = Speaker(person=PersonId("telegram:1"), name="Anna")


class InMemory:
    """A mode that holds one message of each of some sessions in memory alone."""

    def __init__(self, *sessions):
        self.held = dict.fromkeys(sessions, "42")

    def holders(self, platform_ids):
        return {session for session, one in self.held.items() if one in platform_ids}

    async def forget(self, unit, session, platform_ids):
        return int(self.held.get(session) in platform_ids and bool(self.held.pop(session)))


@pytest.fixture
async def database(tmp_path):
    async with open_database(tmp_path / "kith.db") as opened:
        yield opened


@pytest.fixture
def corrections(database):
    return Corrector(database=database)


async def say(database, text, platform_id, session=CHAT):
    async with database.unit() as unit:
        number, _ = await sessions_table.touch(unit, session, title="", now_ns=1)
        said = NewMessage(
            role=Role.USER, text=text, sent_at_ns=1, speaker=ANNA, platform_id=platform_id
        )
        [seq] = await messages_table.append(unit, number, [said])
        return seq


async def fact(database, content, *sources, session=CHAT):
    async with database.unit() as unit:
        entry = NewEntry(
            content=content,
            pool=Pool.SHORT,
            tag=Tag.EVENT,
            scope=Scope.PERSON,
            speaker=ANNA,
            said_at_ns=1,
            sources=sources,
        )
        return await entries_table.add(unit, session, entry)


def message(seq):
    return Source(kind=SourceKind.MESSAGE, id=str(seq))


async def summarise(database, seq, *, chars=0):
    async with database.unit() as unit:
        await summaries_table.save(
            unit,
            CHAT,
            summary=Summary(key_decisions=("Do: x",)),
            cursor=Cursor(seq=seq, chars=chars),
            expected=await summaries_table.state(unit, CHAT),
            now_ns=1,
        )


async def texts(database, session=CHAT):
    async with database.reading() as reader:
        return [
            one.text for one in await messages_table.after(reader, session, seq=NO_SEQ, limit=100)
        ]


async def facts(database, session=CHAT):
    async with database.reading() as reader:
        return [one.content for one in await entries_table.every(reader, session)]


async def marks(database):
    async with database.reading() as reader:
        return [mark.seq for mark in await queue_table.marks(reader, CHAT, limit=10)]


async def version(database):
    async with database.reading() as reader:
        return (await summaries_table.current(reader, CHAT)).version


async def test_an_edit_changes_the_text_and_nothing_keeps_the_old_one(database, corrections):
    await say(database, "I like black tea", "42")
    await EmbedPass(database=database, embedder=FakeEmbedder()).run()

    assert await corrections.edited(CHAT, "42", "我喜歡綠茶")

    assert await texts(database) == ["我喜歡綠茶"]
    async with database.reading() as reader:
        assert not await words_table.find_all(reader, 1, [("black",)])
        assert list(await words_table.find_all(reader, 1, [("綠茶",)])) == [1]
    assert await check(database) == Soundness(messages=1, waiting=1)


async def test_a_deletion_takes_the_message_and_leaves_the_others(database, corrections):
    await say(database, "keep", "41")
    await say(database, "secret", "42")
    await say(database, "elsewhere", "42", OTHER)

    await EmbedPass(database=database, embedder=FakeEmbedder()).run()

    assert await corrections.deleted(CHAT, ["42", "43"]) == 1
    assert await check(database) == Soundness(messages=2, vectors=2)

    assert await texts(database) == ["keep"]
    assert await texts(database, OTHER) == ["elsewhere"]


async def test_an_edit_that_leaves_no_words_is_a_deletion(database, corrections):
    await say(database, "secret", "42")

    assert await corrections.edited(CHAT, "42", " \x00")

    assert await texts(database) == []


async def test_what_was_never_kept_is_no_error(corrections):
    assert not await corrections.edited(CHAT, "42", "x")
    assert await corrections.deleted(CHAT, ["42"]) == 0


async def test_facts_that_rest_on_the_message_alone_go_and_the_new_words_are_distilled(
    database, corrections
):
    one, two = await say(database, "a", "1"), await say(database, "b", "2")
    await fact(database, "from one", message(one))
    await fact(database, "from both", message(one), message(two))

    await corrections.edited(CHAT, "1", "c")

    assert await facts(database) == ["from both"]
    assert await marks(database) == [one]

    await corrections.deleted(CHAT, ["1", "2"])
    assert await facts(database) == []
    assert await marks(database) == []


async def test_what_is_being_distilled_of_the_old_words_comes_to_nothing(database, corrections):
    seq = await say(database, "old", "1")
    async with database.unit() as unit:
        number = await queue_table.mark(unit, CHAT, seq=seq)

    await corrections.edited(CHAT, "1", "new")

    async with database.unit() as unit:
        assert not await queue_table.done(unit, number)
    assert await marks(database) == [seq]


async def test_a_summary_that_covers_the_message_is_given_up_and_one_that_does_not_stays(
    database, corrections
):
    first, _ = await say(database, "a", "1"), await say(database, "b", "2")
    await summarise(database, first)
    stands = await version(database)

    await corrections.edited(CHAT, "2", "c")
    assert await version(database) == stands

    await corrections.deleted(CHAT, ["1"])
    assert await version(database) == 0
    async with database.reading() as reader:
        assert await summaries_table.due(reader) == [CHAT]


@pytest.mark.parametrize("change", ["edit", "deletion"])
async def test_a_summary_that_covers_half_of_the_message_is_given_up(database, corrections, change):
    first, _ = await say(database, "a", "1"), await say(database, "secret, and more", "2")
    await summarise(database, first, chars=6)

    if change == "edit":
        await corrections.edited(CHAT, "2", "nothing")
    else:
        await corrections.deleted(CHAT, ["2"])

    assert await version(database) == 0


async def test_the_same_words_again_change_nothing(database, corrections):
    seq = await say(database, "a", "1")
    await summarise(database, seq)

    assert await corrections.edited(CHAT, "1", "a")

    assert await version(database) > 0


async def test_what_pools_mode_distilled_of_the_message_goes_in_its_session_alone(
    database, corrections
):
    await say(database, "x", "9")
    await say(database, "x", "9", OTHER)
    turn = Source(kind=SourceKind.TURN, id="42")
    await fact(database, "here", turn)
    await fact(database, "there", turn, session=OTHER)

    assert await corrections.edited(CHAT, "42", "new")

    assert await facts(database) == []
    assert await facts(database, OTHER) == ["there"]
    await corrections.deleted(OTHER, ["42"])
    assert await facts(database, OTHER) == []


async def test_what_a_place_deleted_goes_in_all_sessions_of_that_place_and_in_no_other(database):
    archived, distilled = SessionId("tg-1-456-u7"), SessionId("tg-1-456-u8")
    await say(database, "secret", "42", archived)
    await say(database, "secret", "42", OTHER)
    await say(database, "else", "9", distilled)
    await fact(database, "secret", Source(kind=SourceKind.TURN, id="42"), session=distilled)
    mode = InMemory(CHAT, OTHER)
    corrections = Corrector(database=database, modes=[mode])

    await corrections.deleted_there((CHAT, f"{CHAT}-*"), ["42"])

    assert await texts(database, archived) == []
    assert await facts(database, distilled) == []
    assert await texts(database, OTHER) == ["secret"]
    assert set(mode.held) == {OTHER}


async def test_a_turn_that_is_in_memory_alone_goes_with_an_edit_and_counts_as_kept(database):
    mode = InMemory(CHAT)
    corrections = Corrector(database=database, modes=[mode])

    assert await corrections.edited(CHAT, "42", "new")
    assert mode.held == {}
    assert not await corrections.edited(CHAT, "42", "newer")
