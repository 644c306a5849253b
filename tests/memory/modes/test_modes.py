from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from memory.archive import messages_table
from memory.database.database import open_database
from memory.engine import open_engine
from memory.errors import ModelTimedOut, SessionMoved
from memory.keeping.clearing import Holdings
from memory.keeping.resetting import ResetEffect
from memory.modes import pools as pools_mode
from memory.modes.full import MARKS_GATHERED
from memory.pools.entry import Pool, Scope
from memory.ports import Models
from memory.settings import MemorySettings, PoolSettings
from memory.summary import summaries_table
from memory.summary.summaries_table import Cursor
from memory.summary.value import Summary
from memory.values import Mode, Moment, NewMessage, Role, SessionId, Turn
from tests.fakes import FakeChatModel, FakeClock, FakeEmbedder
from tests.memory.pools.stage import (
    ANNA,
    MING,
    ROOM,
    entry,
    every,
    facts,
    put,
    refined,
    stored,
)


class Talk:
    """A conversation with an engine, in one mode, without a chat model."""

    def __init__(self, engine, database, model, clock, mode):
        self.engine, self.database, self.model, self.clock = engine, database, model, clock
        self.mode = mode

    async def compose(self, text, speaker=ANNA, session=ROOM):
        said = NewMessage(
            role=Role.USER,
            text=text,
            sent_at_ns=self.clock.now_ns(),
            speaker=speaker,
            platform_id=f"m{self.clock.now_ns()}",
        )
        mode = self.engine.mode_of(session, self.mode)
        return said, await self.engine.compose(session, said, mode=mode)

    async def say(self, text, reply="I see.", *, speaker=ANNA, session=ROOM, group=False):
        """A whole turn; the prompt that it was answered from."""
        self.clock.advance(10)
        said, composed = await self.compose(text, speaker, session)
        answer = NewMessage(role=Role.ASSISTANT, text=reply, sent_at_ns=self.clock.now_ns())
        turn = Turn(
            session=session,
            title="room",
            epoch=composed.epoch,
            entry=said,
            reply=answer,
            mode=self.engine.mode_of(session, self.mode),
            group=group,
            shown=composed.shown,
        )
        async with self.engine.unit() as unit:
            mark = await self.engine.observe(unit, turn)
        self.engine.settled(turn, mark)
        return composed.prompt

    async def catch_up(self):
        """Do the work that waits."""
        while (found := self.engine.afterwork.take_queued()) is not None:
            await self.engine.afterwork.do(found[0])

    async def messages(self, session=ROOM):
        async with self.database.reading() as reader:
            return await messages_table.count(reader, session)


@asynccontextmanager
async def a_talk(path, mode, script=(), *, embed=None, **settings):
    model = FakeChatModel(script, name="fake:extract")
    models = Models(chat=FakeChatModel(), summary=model, extract=model, embed=embed)
    clock = FakeClock()
    async with open_database(path / "kith.db") as database:
        async with open_engine(
            database=database,
            models=models,
            directory=path,
            settings=MemorySettings(pools=PoolSettings(**settings)),
            clock=clock,
        ) as engine:
            yield Talk(engine, database, model, clock, mode)


def _context(prompt):
    return prompt.messages[-2].text


def extractor(request):
    """Makes a fact of what a person says about themselves, and one of what it is to refine."""
    if "wrote:" not in request.messages[1].text:
        return refined(request.messages[1].text.splitlines()[0].removeprefix("- "))
    text = request.messages[1].text.partition(" wrote:\n")[2].partition("\n\nReply:")[0]
    name = request.messages[1].text.partition(" wrote:\n")[0].splitlines()[-1]
    return facts(text.replace("I ", f"{name} ")) if text.startswith("I ") else facts()


async def test_full_mode_shows_window_and_facts_and_keeps_the_transcript(tmp_path):
    async with a_talk(tmp_path, Mode.FULL, extractor) as talk:
        await talk.say("I own a kayak")
        await talk.catch_up()
        prompt = await talk.say("what do I own?")

        assert "[recent, 2023-11-14] Anna own a kayak" in _context(prompt)
        assert any("I own a kayak" in one.text for one in prompt.messages[1:-2])
        assert await talk.messages() == 4


async def test_window_mode_distils_nothing_and_shows_no_facts(tmp_path):
    async with a_talk(tmp_path, Mode.WINDOW) as talk:
        await put_into(talk, "Anna owns a kayak")
        prompt = await talk.say("I own a canoe")
        await talk.catch_up()

        assert "kayak" not in _context(prompt)
        assert await talk.messages() == 2
        assert talk.model.requests == []


async def put_into(talk, *contents, **more):
    """Entries of Anna's in a session that exists."""
    await talk.engine.pools.pause(ROOM, paused=False)
    return await put(talk.database, *[entry(one, **more) for one in contents])


async def test_pools_mode_shows_facts_alone_and_stores_no_message(tmp_path):
    async with a_talk(tmp_path, Mode.POOLS, extractor) as talk:
        await talk.say("I own a kayak")
        await talk.catch_up()
        prompt = await talk.say("what do I own?")

        assert len(prompt.messages) == 3
        assert "Anna own a kayak" in _context(prompt)
        assert await talk.messages() == 0


async def test_a_failed_turn_stays_in_memory_until_it_is_distilled(tmp_path):
    answers = [ModelTimedOut("slow"), "garbage", facts("Anna owns a kayak")]
    async with a_talk(tmp_path, Mode.POOLS, answers) as talk:
        await talk.say("I own a kayak")
        for _ in range(2):
            with pytest.raises(Exception, match=r"slow|no list"):
                await talk.engine.afterwork.do(ROOM)
        await talk.engine.afterwork.do(ROOM)

        assert await stored(talk.database) == ["Anna owns a kayak"]
        assert (await talk.engine.pools.state(ROOM)).waiting == 0


async def test_a_failed_turn_of_full_mode_is_tried_again_after_a_restart(tmp_path):
    async with a_talk(tmp_path, Mode.FULL, [ModelTimedOut("slow")]) as talk:
        await talk.say("I own a kayak")
        with pytest.raises(ModelTimedOut):
            await talk.engine.afterwork.do(ROOM)

    async with a_talk(tmp_path, Mode.FULL, extractor) as talk:
        await talk.catch_up()

        [fact] = await every(talk.database)
        assert fact.content == "Anna own a kayak"
        assert [(one.kind, one.id) for one in fact.sources] == [("message", "1")]


async def test_full_mode_gathers_a_few_turns_while_people_write(tmp_path):
    async with a_talk(tmp_path, Mode.FULL, extractor) as talk:
        for number in range(1, MARKS_GATHERED + 1):
            assert talk.model.requests == []
            await talk.say(f"I own kayak number {number}")
            await talk.engine.afterwork.do(ROOM, Moment.TURN)

        assert len(talk.model.requests) == MARKS_GATHERED


async def test_a_turn_that_never_works_is_given_up_in_full_mode(tmp_path):
    async with a_talk(tmp_path, Mode.FULL, lambda _request: "garbage") as talk:
        await talk.say("I own a kayak")
        for _ in range(5):
            with pytest.raises(Exception, match="no list"):
                await talk.engine.afterwork.do(ROOM)
        await talk.engine.afterwork.do(ROOM)

        assert (await talk.engine.pools.state(ROOM)).waiting == 0
        assert await talk.messages() == 2


async def test_what_a_restart_loses_in_pools_mode_is_counted(tmp_path):
    async with a_talk(tmp_path, Mode.POOLS) as talk:
        await talk.say("I own a kayak")
        await talk.say("thanks!")

    async with a_talk(tmp_path, Mode.POOLS) as talk:
        assert await talk.engine.pools.lost_turns() == 1
        assert (await talk.engine.pools.state(ROOM)).lost_turns == 1


async def test_a_full_queue_pushes_out_the_oldest_turn_and_counts_it(tmp_path, monkeypatch):
    async with a_talk(tmp_path, Mode.POOLS, extractor) as talk:
        talk.engine._modes[Mode.POOLS]._most_waiting = 2
        for thing in ("kayak", "canoe", "raft"):
            await talk.say(f"I own a {thing}")
        await talk.catch_up()

        assert await stored(talk.database) == ["Anna own a canoe", "Anna own a raft"]
        assert (await talk.engine.pools.state(ROOM)).lost_turns == 1


async def test_recent_turns_stay_in_memory_where_that_is_set(tmp_path):
    async with a_talk(tmp_path, Mode.POOLS, extractor, recent_turns=1) as talk:
        await talk.say("I own a kayak")
        await talk.say("I own a canoe")
        prompt = await talk.say("and the second one?")

        texts = "\n".join(one.text for one in prompt.messages)
        assert "I own a canoe" in texts
        assert "I own a kayak" not in texts
        assert await talk.messages() == 0

    async with a_talk(tmp_path, Mode.POOLS, extractor, recent_turns=1) as talk:
        prompt = await talk.say("and the second one?")
        assert len(prompt.messages) == 3


async def test_the_prompt_does_not_grow_with_the_talk_in_pools_mode(tmp_path):
    sizes = {}
    async with a_talk(tmp_path, Mode.POOLS, extractor) as talk:
        for number in range(1, 301):
            prompt = await talk.say(f"I bought thing number {number} on market day {number % 7}")
            if number % 10 == 0:
                await talk.catch_up()
            sizes[number] = prompt.tokens

    assert abs(sizes[300] - sizes[60]) <= sizes[60] * 0.05


async def test_paused_pools_are_read_and_not_written(tmp_path):
    async with a_talk(tmp_path, Mode.FULL, extractor) as talk:
        await put_into(talk, "Anna owns a kayak")
        await talk.engine.pools.pause(ROOM, paused=True)
        prompt = await talk.say("I own a canoe")
        await talk.catch_up()

        assert "kayak" in _context(prompt)
        assert await stored(talk.database) == ["Anna owns a kayak"]
        assert talk.model.requests == []


async def test_temporary_sessions_are_not_distilled(tmp_path):
    async with a_talk(tmp_path, Mode.FULL) as talk:
        await talk.say("I own a kayak", session=SessionId("temp-1"))
        await talk.catch_up()

        assert talk.model.requests == []


async def test_entries_get_vectors_and_are_found_by_meaning(tmp_path):
    async with a_talk(tmp_path, Mode.POOLS, extractor, embed=FakeEmbedder()) as talk:
        for thing in ("kayak", "canoe", "raft", "boat", "ship", "ferry", "dinghy"):
            await talk.say(f"I own a {thing}")
        await talk.catch_up()

        assert all(one.vector for one in await every(talk.database))
        prompt = await talk.say("tell me about the dinghy")
        assert "dinghy" in _context(prompt)


# Resets and switches


async def _furnished(talk):
    """A session with everything: messages, a summary, a short and a long entry."""
    await talk.say("I own a kayak")
    await talk.catch_up()
    await put(talk.database, entry("Anna lives in Taipei", pool=Pool.LONG))
    async with talk.database.unit() as unit:
        await summaries_table.save(
            unit,
            ROOM,
            summary=Summary(key_decisions=("Do: answer in Chinese", "Don't: use emoji")),
            cursor=Cursor(seq=2),
            expected=await summaries_table.state(unit, ROOM),
            now_ns=talk.clock.now_ns(),
        )


async def test_a_plain_reset_keeps_the_summary_and_the_long_pool(tmp_path):
    async with a_talk(tmp_path, Mode.FULL, extractor) as talk:
        await _furnished(talk)

        done = await talk.engine.reset(ROOM, everything=False)

        assert (done.messages, done.message_count) == (ResetEffect.CLEARED, 2)
        assert (done.short_pool, done.long_pool) == (ResetEffect.CLEARED, ResetEffect.KEPT)
        assert done.summary is ResetEffect.KEPT
        left = await talk.engine.clearing.holdings(ROOM)
        assert left == Holdings(long=1, summary=True)
        prompt = await talk.say("hello")
        assert "kayak" not in str(prompt.messages)
        assert "Anna lives in Taipei" in _context(prompt)


async def test_a_whole_reset_keeps_nothing(tmp_path):
    async with a_talk(tmp_path, Mode.FULL, extractor) as talk:
        await _furnished(talk)

        done = await talk.engine.reset(ROOM, everything=True)

        assert (done.long_pool, done.summary) == (ResetEffect.CLEARED, ResetEffect.CLEARED)
        assert await talk.engine.clearing.holdings(ROOM) == Holdings()


async def test_a_reset_lets_go_of_turns_that_wait_in_memory(tmp_path):
    async with a_talk(tmp_path, Mode.POOLS, extractor, recent_turns=2) as talk:
        await talk.say("I own a kayak")
        await talk.engine.reset(ROOM, everything=False)
        await talk.catch_up()
        prompt = await talk.say("what do I own?")

        assert await stored(talk.database) == []
        assert len(prompt.messages) == 3


async def test_removing_a_session_leaves_nothing_of_it(tmp_path):
    async with a_talk(tmp_path, Mode.FULL, extractor) as talk:
        await _furnished(talk)
        await talk.engine.clearing.switch(ROOM, Mode.POOLS)

        assert await talk.engine.clearing.remove(ROOM)

        assert await talk.engine.clearing.holdings(ROOM) == Holdings()
        assert talk.engine.mode_of(ROOM, Mode.FULL) is Mode.FULL


async def test_an_admins_choice_goes_before_the_configuration_and_lasts(tmp_path):
    async with a_talk(tmp_path, Mode.FULL, extractor) as talk:
        await talk.engine.clearing.switch(ROOM, Mode.POOLS)
        await talk.say("I own a kayak")
        assert await talk.messages() == 0

    async with a_talk(tmp_path, Mode.FULL, extractor) as talk:
        await talk.say("I own a canoe")
        assert await talk.messages() == 0
        assert talk.engine.mode_of(SessionId("cli-other"), Mode.FULL) is Mode.FULL


async def test_switching_to_pools_can_purge_the_transcript_and_seed_the_decisions(tmp_path):
    async with a_talk(tmp_path, Mode.FULL, extractor) as talk:
        await _furnished(talk)

        done = await talk.engine.clearing.switch(ROOM, Mode.POOLS, purge=True, seed=True)

        assert (done.seeded, done.cleared.messages, done.cleared.summary) == (2, 2, True)
        seeded = [one for one in await every(talk.database) if one.tag == "imported"]
        assert [one.content for one in seeded] == ["Do: answer in Chinese", "Don't: use emoji"]
        assert all(one.scope is Scope.GROUP for one in seeded)
        for file in tmp_path.iterdir():
            assert b"I own a kayak" not in file.read_bytes()


async def test_switching_without_purging_keeps_what_is_stored_unused(tmp_path):
    async with a_talk(tmp_path, Mode.FULL, extractor) as talk:
        await _furnished(talk)

        await talk.engine.clearing.switch(ROOM, Mode.POOLS)
        prompt = await talk.say("hello there friend of mine")
        back = await talk.engine.clearing.switch(ROOM, Mode.FULL)

        assert len(prompt.messages) == 3
        assert "Prior summary" not in _context(prompt)
        assert back.kept.messages == 2


async def test_a_turn_that_a_switch_overtakes_is_not_kept(tmp_path):
    async with a_talk(tmp_path, Mode.FULL, extractor) as talk:
        await talk.say("I own a canoe")
        said, composed = await talk.compose("I own a kayak")
        await talk.engine.clearing.switch(ROOM, Mode.POOLS)
        turn = Turn(
            session=ROOM,
            title="",
            epoch=composed.epoch,
            entry=said,
            reply=replace(said, role=Role.ASSISTANT, speaker=None),
            mode=Mode.FULL,
        )

        with pytest.raises(SessionMoved):
            async with talk.engine.unit() as unit:
                await talk.engine.observe(unit, turn)


async def test_a_turn_whose_mode_was_decided_before_a_switch_writes_no_transcript(tmp_path):
    async with a_talk(tmp_path, Mode.FULL, extractor) as talk:
        said, _ = await talk.compose("I own a kayak")
        await talk.engine.clearing.switch(ROOM, Mode.POOLS)
        composed = await talk.engine.compose(ROOM, said, mode=Mode.FULL)
        turn = Turn(
            session=ROOM,
            title="",
            epoch=composed.epoch,
            entry=said,
            reply=replace(said, role=Role.ASSISTANT, speaker=None),
            mode=Mode.FULL,
        )

        with pytest.raises(SessionMoved):
            async with talk.engine.unit() as unit:
                await talk.engine.observe(unit, turn)

        assert await talk.messages() == 0


# Two people

SECRETS = {ANNA.name: "I hide a violin", MING.name: "I hide a trumpet"}


@pytest.mark.parametrize("mode", [Mode.FULL, Mode.POOLS])
@pytest.mark.parametrize("asker", [ANNA, MING], ids=["Anna", "Ming"])
async def test_nobodys_private_facts_reach_anybody_else(tmp_path, mode, asker):
    other = MING if asker is ANNA else ANNA
    mine, theirs = ("violin", "trumpet") if asker is ANNA else ("trumpet", "violin")
    group = SessionId("tg-1-group")
    rooms = {one.name: SessionId(f"tg-1-{one.name}") for one in (ANNA, MING)}
    async with a_talk(tmp_path, mode, extractor) as talk:
        for one in (ANNA, MING):
            await talk.say(SECRETS[one.name], speaker=one, session=rooms[one.name])
            await talk.say(f"I like {one.person} chess", speaker=one, session=group, group=True)
        await talk.catch_up()

        _, at_home = await talk.compose("what do I hide and like?", asker, rooms[asker.name])
        _, in_group = await talk.compose("what do we hide and like?", asker, group)

        assert mine in _context(at_home.prompt)
        assert theirs not in str(at_home.prompt.messages)
        assert "violin" not in str(in_group.prompt.messages)
        assert "trumpet" not in str(in_group.prompt.messages)
        facts_in_group = _context(in_group.prompt)
        assert f"{asker.person} chess" in facts_in_group
        assert f"{other.person} chess" not in facts_in_group


def test_the_queue_in_memory_is_bounded():
    assert 0 < pools_mode.MOST_WAITING <= 1_000
