"""The pass with the tiny model: what it writes is sound, whatever it is worth."""

import pytest

from adapters.calls import CallScheduler
from adapters.embedded.chat import EmbeddedChat
from memory.archive import messages_table
from memory.database import sessions_table
from memory.database.database import open_database
from memory.ports import ModelLimits, Models
from memory.summary import summaries_table
from memory.summary.run import Ended
from memory.summary.service import SummaryService
from memory.summary.value import read_summary, to_json
from memory.values import NewMessage, Role, SessionId
from tests.fakes import NOON_NS, FakeClock

pytestmark = pytest.mark.model

LIMITS = ModelLimits(context_tokens=2048, prompt_tokens=1024, reply_tokens=256)
SESSION = SessionId("cli-real")
TALK = (
    ("My cat is called Momo.", "Momo is a lovely name."),
    ("Please always answer briefly.", "I will."),
    ("We go to Kyoto in May.", "That is a good time for it."),
)


async def test_a_real_model_writes_a_sound_summary_and_the_cursor_moves(tmp_path, tiny_runtime):
    model = EmbeddedChat(
        name="embedded:tiny", runtime=tiny_runtime, limits=LIMITS, calls=CallScheduler().of("m")
    )
    async with open_database(tmp_path / "kith.db") as database:
        async with database.unit() as unit:
            number, _ = await sessions_table.touch(unit, SESSION, title="", now_ns=NOON_NS)
            for said, answered in TALK:
                messages = [
                    NewMessage(role=Role.USER, text=said, sent_at_ns=NOON_NS),
                    NewMessage(role=Role.ASSISTANT, text=answered, sent_at_ns=NOON_NS),
                ]
                seqs = await messages_table.append(unit, number, messages)
        models = Models(chat=model, summary=model, extract=model)
        work = SummaryService(database=database, models=models, clock=FakeClock())

        run = await work.refresh(SESSION)

        async with database.reading() as reader:
            stored = await summaries_table.current(reader, SESSION)
            due = await summaries_table.due(reader)
    assert (run.ended, run.chunks, run.messages) == (Ended.UP_TO_DATE, 1, 6)
    assert stored.cursor.seq == seqs[-1]
    assert due == []
    assert stored.summary
    assert read_summary(to_json(stored.summary)) == stored.summary
