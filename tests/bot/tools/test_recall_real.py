"""Automatic recall with the tiny model: what it is shown, and that it answers; not how well."""

import pytest

from adapters.calls import CallScheduler
from adapters.embedded.chat import EmbeddedChat
from memory.archive import messages_table
from memory.database import sessions_table
from memory.ports import ModelLimits
from memory.values import NewMessage, Role, SessionId
from tests.bot.tools.stage import ANN, open_stage
from tests.fakes import NOON_NS

pytestmark = pytest.mark.model

LIMITS = ModelLimits(context_tokens=2048, prompt_tokens=700, reply_tokens=24, tools=False)
SESSION = SessionId("telegram-7")


class Watched(EmbeddedChat):
    """The model itself; what it was asked is kept."""

    requests = ()

    def stream(self, request):
        self.requests = (*self.requests, request)
        return super().stream(request)


@pytest.mark.parametrize(
    ("fact", "question"),
    [
        ("my locker code is zebra-41", "what was my locker code?"),
        ("我弟弟養了一隻烏龜", "我弟弟養的烏龜呢？"),
    ],
)
async def test_an_embedded_model_answers_with_a_message_500_messages_ago_before_it(
    tmp_path, tiny_runtime, fact, question
):
    model = Watched(
        name="embedded:tiny", runtime=tiny_runtime, limits=LIMITS, calls=CallScheduler().of("m")
    )
    said = [fact, *(f"line {n} about nothing much" for n in range(500))]
    async with open_stage(tmp_path, [], model) as stage:
        async with stage.database.unit() as unit:
            number, _ = await sessions_table.touch(unit, SESSION, title="", now_ns=NOON_NS)
            entries = [
                NewMessage(role=Role.USER, text=text, sent_at_ns=NOON_NS + at, speaker=ANN)
                for at, text in enumerate(said)
            ]
            await messages_table.append(unit, number, entries)

        reply = await stage.ask(question, session=SESSION)

    [request] = model.requests
    assert request.tools == ()
    assert any(fact in message.text for message in request.messages)
    assert reply.kept
    assert reply.text
