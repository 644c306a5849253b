import asyncio
import json
import re
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.archive import messages_table
from memory.database import sessions_table
from memory.database.database import open_database
from memory.errors import ModelTimedOut, ModelUnreachable
from memory.ports import ModelLimits, Models, Priority
from memory.summary import summaries_table
from memory.summary.run import Ended, SummaryRun
from memory.summary.service import SummaryService
from memory.summary.summaries_table import NOTHING_STORED, Cursor
from memory.summary.value import Current, Summary, Topic, read_summary, to_json
from memory.values import NO_SEQ, NewMessage, Role, SessionId
from tests.fakes import NOON_NS, FakeChatModel, FakeClock

ALICE = SessionId("telegram-1")
ID = re.compile(r"m\d{4}")
SMALL = ModelLimits(context_tokens=2_400, prompt_tokens=1_200, reply_tokens=512)


class Notes:
    """A summary model that writes down the ids it reads; `faults` gives the answer of a call."""

    def __init__(self, faults=None, limits=None):
        self.faults = dict(faults or {})
        self.read = []
        self.model = FakeChatModel(self.answer, limits=limits)

    def answer(self, request):
        system, user = (message.text for message in request.messages)
        fault = self.faults.pop(len(self.model.requests), None)
        if fault is not None:
            return fault
        before = read_summary(system)
        ids = ID.findall(user)
        self.read.append(ids)
        facts = [f"Do: {fact}" for fact in re.findall(r"FACT \w+", user)]
        last = Current(topic=ids[-1], description=f"up to {ids[-1]}") if ids else Current()
        return to_json(
            replace(
                before,
                key_decisions=(*before.key_decisions, *facts),
                current_discussion=last,
            )
        )

    def ids(self):
        return [found for call in self.read for found in call]


@pytest.fixture
async def database(tmp_path):
    async with open_database(tmp_path / "kith.db") as opened:
        yield opened


def summariser(database, model, decision=None):
    models = Models(chat=model, summary=model, extract=model, decision=decision)
    return SummaryService(database=database, models=models, clock=FakeClock())


async def say(database, *texts, session=ALICE, roles="ua", at_ns=NOON_NS):
    """Store messages, users and replies by turns; each text is given its id."""
    async with database.unit() as unit:
        number, _ = await sessions_table.touch(unit, session, title="", now_ns=at_ns)
        row = await unit.row("SELECT seq FROM sqlite_sequence WHERE name = 'messages'")
        first = row["seq"] + 1 if row else 1
        return await messages_table.append(
            unit,
            number,
            [
                NewMessage(
                    role=Role.ASSISTANT if roles[n % len(roles)] == "a" else Role.USER,
                    text=f"m{first + n:04} {text}",
                    sent_at_ns=at_ns,
                )
                for n, text in enumerate(texts)
            ],
        )


async def current(database, session=ALICE):
    async with database.reading() as reader:
        return await summaries_table.current(reader, session)


async def due(database):
    async with database.reading() as reader:
        return await summaries_table.due(reader)


async def keep(database, summary, cursor):
    async with database.unit() as unit:
        expected = await summaries_table.state(unit, ALICE)
        await summaries_table.save(
            unit, ALICE, summary=summary, cursor=cursor, expected=expected, now_ns=NOON_NS
        )


def names(seqs):
    return [f"m{seq:04}" for seq in seqs]


# Step 1


async def test_a_summary_without_a_cursor_gets_one_and_no_model_is_asked(database):
    seqs = await say(database, "a", "b")
    imported = Summary(key_decisions=("Do: x",))
    await keep(database, imported, None)
    model, decision = FakeChatModel(), FakeChatModel()

    run = await summariser(database, model, decision).refresh(ALICE)

    assert run == SummaryRun(ended=Ended.ADOPTED)
    stored = await current(database)
    assert (stored.summary, stored.cursor) == (imported, Cursor(seq=seqs[-1]))
    assert await due(database) == []


async def test_an_empty_summary_without_a_cursor_is_no_summary(database):
    seqs = await say(database, "a", "b")
    await keep(database, Summary(), None)
    notes = Notes()

    await summariser(database, notes.model).refresh(ALICE)

    assert notes.ids() == names(seqs)


# Steps 2 to 5


async def test_everything_behind_the_cursor_is_summarised_in_one_call_with_the_summary_before(
    database,
):
    await say(database, "FACT one", "ok")
    notes = Notes()
    await summariser(database, notes.model).refresh(ALICE)
    seqs = await say(database, "FACT 二", "好")

    run = await summariser(database, notes.model).refresh(ALICE)

    assert run == SummaryRun(ended=Ended.UP_TO_DATE, chunks=1, messages=2, calls=1)
    assert notes.read[1] == names(seqs)
    request = notes.model.requests[1]
    assert "Do: FACT one" in request.messages[0].text
    assert request.priority is Priority.BACKGROUND
    assert request.schema["required"]
    stored = await current(database)
    assert stored.summary.key_decisions == ("Do: FACT one", "Do: FACT 二")
    assert stored.cursor == Cursor(seq=seqs[-1])
    assert await due(database) == []


async def test_nothing_new_asks_no_model(database):
    await say(database, "a", "b")
    await summariser(database, Notes().model).refresh(ALICE)
    model, decision = FakeChatModel(), FakeChatModel()

    run = await summariser(database, model, decision).refresh(ALICE)

    assert run == SummaryRun(ended=Ended.UP_TO_DATE)
    assert model.requests == decision.requests == []


async def test_noise_is_left_out_and_overturned_entries_are_gone(database):
    before = Summary(key_decisions=("Do: tea", "Do: stay"), past_discussions=(Topic(topic="old"),))
    await keep_after(database, before)
    seqs = await say(database, "hi", "hello", "coffee from now on", "noted")
    decision = FakeChatModel(
        [
            json.dumps({"noise": [{"id": 1, "confidence": 0.9}]}),
            json.dumps({"superseded": [1, 3]}),
        ]
    )
    notes = Notes()

    run = await summariser(database, notes.model, decision).refresh(ALICE)

    assert notes.ids() == names(seqs[2:])
    assert (run.noise, run.judgements, run.calls) == (2, 2, 1)
    stored = await current(database)
    assert stored.summary.key_decisions == ("Do: stay",)
    assert stored.summary.past_discussions == ()
    assert "tea" not in notes.model.requests[0].messages[0].text
    assert "hello" not in decision.requests[1].messages[1].text


async def keep_after(database, summary):
    async with database.unit() as unit:
        await sessions_table.touch(unit, ALICE, title="", now_ns=NOON_NS)
    await keep(database, summary, Cursor(seq=NO_SEQ))


async def test_with_nothing_left_the_cursor_moves_without_a_call(database):
    before = Summary(key_decisions=("Do: tea",))
    await keep_after(database, before)
    seqs = await say(database, "hi", "hello")
    decision = FakeChatModel([json.dumps({"noise": [{"id": 1, "confidence": 1}]})])
    model = FakeChatModel()

    run = await summariser(database, model, decision).refresh(ALICE)

    assert (run.ended, run.calls) == (Ended.UP_TO_DATE, 0)
    stored = await current(database)
    assert (stored.summary, stored.cursor) == (before, Cursor(seq=seqs[-1]))
    assert await due(database) == []


@pytest.mark.parametrize("reply", ["", "sure!", ModelUnreachable("down")])
async def test_a_judgement_that_fails_keeps_all_messages_and_entries(database, reply):
    before = Summary(key_decisions=("Do: tea",))
    await keep_after(database, before)
    seqs = await say(database, "hi", "hello")
    notes = Notes()

    await summariser(database, notes.model, FakeChatModel(lambda _: reply)).refresh(ALICE)

    assert notes.ids() == names(seqs)
    assert (await current(database)).summary.key_decisions == before.key_decisions


async def test_chunks_keep_to_what_the_models_context_leaves_free(database):
    seqs = await say(database, *["貓" * 200] * 12)
    notes = Notes(limits=SMALL)

    run = await summariser(database, notes.model).refresh(ALICE)

    assert notes.ids() == names(seqs)
    assert run.chunks == run.calls == len(notes.read) > 2
    assert all(len(call) % 2 == 0 for call in notes.read)  # each ends on a reply


async def test_a_record_larger_than_a_chunk_is_split_and_the_cursor_stands_inside_it(database):
    words = [f"w{n:03}" for n in range(900)]
    first, long, *_ = await say(database, "a", " ".join(words), "c", "d")
    notes = Notes({3: ModelTimedOut("x")}, limits=SMALL)

    run = await summariser(database, notes.model).refresh(ALICE)

    assert (run.ended, run.chunks) == (Ended.FAILED, 2)
    stored = await current(database)
    assert first <= stored.cursor.seq == long - 1
    assert stored.cursor.chars > 0

    await summariser(database, notes.model).refresh(ALICE)

    body = "".join(
        block.partition("\n")[2]
        for n, request in enumerate(notes.model.requests, 1)
        if n != 3
        for block in request.messages[1].text.split("\n\n")[1:]
    )
    assert " ".join(words) in body
    assert await due(database) == []


async def test_of_a_half_covered_message_the_rest_is_read_and_the_next_one_whole(database):
    first, _, _ = await say(database, "a", "ALREADY READ not yet", "whole")
    await keep(database, Summary(), Cursor(seq=first, chars=len("m0002 ALREADY READ ")))
    notes = Notes()

    await summariser(database, notes.model).refresh(ALICE)

    read = notes.model.requests[0].messages[1].text
    assert "not yet" in read
    assert "ALREADY READ" not in read
    assert "m0003 whole" in read


async def test_a_long_backlog_is_read_in_rounds_and_in_full(database, monkeypatch):
    monkeypatch.setattr("memory.summary.service.READ_MESSAGES", 7)
    seqs = await say(database, *"abcdefghijklmnopqrst")
    notes = Notes()

    await summariser(database, notes.model).refresh(ALICE)

    assert notes.ids() == names(seqs)
    assert all(len(call) % 2 == 0 for call in notes.read)


async def test_a_summary_that_speaks_of_think_tags_is_read_back(database):
    await say(database, "Why does it print those tags?", "The model closes its thinking.")
    answer = to_json(Summary(key_decisions=("Do: strip </think> tags",)))
    notes = Notes({1: answer.replace("<", "\\u003c")})

    run = await summariser(database, notes.model).refresh(ALICE)

    assert (run.ended, run.calls) == (Ended.UP_TO_DATE, 1)
    assert (await current(database)).summary.key_decisions == ("Do: strip </think> tags",)


# Failures


async def test_a_cursor_that_stands_still_ends_the_run(database, monkeypatch):
    async def unread(_reader, _session):
        return NOTHING_STORED

    await say(database, "a", "b")
    monkeypatch.setattr(summaries_table, "current", unread)

    async with asyncio.timeout(5):
        run = await summariser(database, Notes().model).refresh(ALICE)

    assert (run.ended, run.calls) == (Ended.FAILED, 1)


async def test_a_failed_chunk_ends_the_run_and_the_next_run_goes_on_from_it(database):
    seqs = await say(database, *["貓" * 200] * 12)
    notes = Notes({2: "cut off {"}, limits=SMALL)

    run = await summariser(database, notes.model).refresh(ALICE)

    assert (run.ended, run.chunks, run.calls) == (Ended.FAILED, 1, 2)
    done = len(notes.read[0])
    assert (await current(database)).cursor == Cursor(seq=seqs[done - 1])
    assert await due(database) == [ALICE]

    await summariser(database, notes.model).refresh(ALICE)

    assert notes.ids() == names(seqs)
    assert await due(database) == []


async def test_the_first_run_that_fails_leaves_nothing_behind(database):
    await say(database, "a", "b")

    run = await summariser(database, FakeChatModel([ModelTimedOut("x")])).refresh(ALICE)

    assert run.ended is Ended.FAILED
    assert await current(database) == NOTHING_STORED
    assert await due(database) == [ALICE]


async def test_the_cursor_passes_noise_only_before_the_last_saved_chunk(database):
    seqs = await say(database, *["hi", "hello", *["貓" * 300] * 2, "thx", "np", *["狗" * 300] * 4])
    decision = FakeChatModel(
        lambda request: json.dumps(
            {"noise": [{"id": 1, "confidence": 1}, {"id": 3, "confidence": 1}]}
            if "noise" in request.schema["required"]
            else {"superseded": []}
        )
    )
    notes = Notes({2: ""}, limits=SMALL)

    run = await summariser(database, notes.model, decision).refresh(ALICE)

    assert run.ended is Ended.FAILED
    assert notes.read == [names(seqs[2:4])]
    assert (await current(database)).cursor == Cursor(seq=seqs[3])


async def test_an_answer_without_any_entry_leaves_the_notes_and_moves_the_cursor(database):
    before = Summary(key_decisions=("Do: tea",))
    await keep_after(database, before)
    seqs = await say(database, "a", "b")

    await summariser(database, FakeChatModel([to_json(Summary())])).refresh(ALICE)

    stored = await current(database)
    assert (stored.summary, stored.cursor) == (before, Cursor(seq=seqs[-1]))


def fragments():
    whole = to_json(Summary(key_decisions=("Do: 好",), past_discussions=(Topic(topic="x"),)))
    junk = st.text(alphabet=st.characters(codec=None), max_size=80)
    return st.one_of(
        junk,
        st.integers(0, len(whole) - 1).map(lambda n: whole[:n]),
        st.integers(0, len(whole) - 1).map(lambda n: f"```json\n{whole[:n]}\n```"),
        junk.map(lambda text: f"<think>{whole}{text.replace('</', '')}"),
        junk.map(lambda text: "\ud800" + text.replace("{", "")),
        st.integers(1, 3_000).map(lambda n: '{"key_decisions": ' * n),
        st.recursive(
            st.none() | st.booleans() | st.integers() | junk,
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.sampled_from(["key_decisions", "x", "topic"]), inner)
            ),
            max_leaves=8,
        ).map(json.dumps),
        st.sampled_from([5, "Do: x", None, [1], [["a"]], {"a": 1}]).map(
            lambda wrong: json.dumps({"key_decisions": wrong, "past_discussions": {}})
        ),
    )


async def test_a_thousand_broken_answers_change_nothing_and_break_nothing(tmp_path):
    before = Summary(key_decisions=("Do: tea",))
    async with open_database(tmp_path / "kith.db") as database:
        await keep_after(database, before)
        await say(database, "a", "b")
        stored, asked = await current(database), 0
        broken = FakeChatModel(lambda _: answer)
        work = summariser(database, broken)

        @settings(
            max_examples=1_000,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            database=None,
        )
        @given(fragments())
        def collect(text):
            if read_summary(text) is None:
                answers.append(text)

        answers = []
        collect()
        for answer in (answers * 2)[:1_000]:  # noqa: B007 - the model reads it
            run = await work.refresh(ALICE)
            asked += 1
            assert run == SummaryRun(ended=Ended.FAILED, calls=1)

        assert asked == len(broken.requests) == 1_000
        assert await current(database) == stored
        assert await due(database) == [ALICE]


# What happens meanwhile


@pytest.mark.parametrize("change", ["reset", "removed", "edit", "other run"])
async def test_what_happens_to_the_session_during_the_call_wins(database, change):
    seqs = await say(database, "a", "b")

    async def answer(_request):
        if change == "other run":
            await keep(database, Summary(key_decisions=("Do: other",)), Cursor(seq=seqs[-1]))
        async with database.unit() as unit:
            if change == "reset":
                await sessions_table.bump_epoch(unit, ALICE, now_ns=NOON_NS)
                await messages_table.clear(unit, ALICE)
            if change == "removed":
                await sessions_table.remove(unit, ALICE)
            if change == "edit":
                await unit.execute("UPDATE messages SET text = 'other' WHERE seq = ?", (seqs[0],))
        return to_json(Summary(key_decisions=("Do: late",)))

    run = await summariser(database, FakeChatModel(answer)).refresh(ALICE)

    assert run.ended is Ended.MOVED
    assert "Do: late" not in (await current(database)).summary.key_decisions


async def test_nothing_is_locked_during_the_call_and_what_arrives_then_is_summarised_too(database):
    first = await say(database, "a", "b")
    later = []
    notes = Notes()

    async def answer(request):
        if not later:
            async with asyncio.timeout(1):
                later.extend(await say(database, "meanwhile", "stored"))
        return notes.answer(request)

    run = await summariser(database, FakeChatModel(answer)).refresh(ALICE)

    assert (run.ended, run.calls, run.messages) == (Ended.UP_TO_DATE, 2, 4)
    assert notes.read == [names(first), names(later)]
    assert await due(database) == []
