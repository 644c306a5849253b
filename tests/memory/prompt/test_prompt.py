from dataclasses import replace
from datetime import timedelta, timezone

import pytest

from memory.errors import PromptTooLong
from memory.ports import ChatRole, ModelLimits
from memory.prompt.prompt import Line, Lines, Parts, Slots, assemble
from memory.prompt.tokens import TokenMeter
from memory.values import Message, NewMessage, PersonId, Role, Seq, SessionId, Speaker
from tests.fakes import NOON_NS

TAIPEI = timezone(timedelta(hours=8), "CST")
MEI = Speaker(person=PersonId("telegram:1"), name="小美")
ROOMY = ModelLimits(context_tokens=8192, prompt_tokens=7000, reply_tokens=1000)


def record(seq, text="hello there", role=None):
    role = role or (Role.USER if seq % 2 else Role.ASSISTANT)
    return Message(
        seq=Seq(seq),
        session=SessionId("s"),
        role=role,
        text=text,
        sent_at_ns=NOON_NS,
        speaker=MEI if role is Role.USER else None,
    )


def lines(*texts):
    return Lines(
        heading="H", lines=tuple(Line(text=t, weight=len(texts) - i) for i, t in enumerate(texts))
    )


def parts(window=(), slots=None, text="現在呢？", **more):
    entry = NewMessage(role=Role.USER, text=text, sent_at_ns=NOON_NS, speaker=MEI)
    return Parts(
        system="You are Kith.",
        window=tuple(window),
        slots=slots or Slots(),
        entry=entry,
        now_ns=NOON_NS,
        zone=TAIPEI,
        **more,
    )


def limited(prompt_tokens):
    return replace(ROOMY, prompt_tokens=prompt_tokens)


def test_the_order_is_system_window_context_input():
    slots = Slots(recalled=lines("recalled!"), pool=lines("pooled!"), summary=lines("summed!"))

    prompt = assemble(parts([record(1), record(2)], slots), ROOMY, TokenMeter())

    roles = [message.role for message in prompt.messages]
    assert roles == [
        ChatRole.SYSTEM,
        ChatRole.USER,
        ChatRole.ASSISTANT,
        ChatRole.USER,
        ChatRole.USER,
    ]
    context = prompt.messages[3].text
    assert context.index("summed!") < context.index("recalled!") < context.index("pooled!")
    assert prompt.messages[4].text.endswith("現在呢？")


def test_each_record_has_one_metadata_line_with_local_time_and_sender():
    prompt = assemble(parts([record(1, "hi")]), ROOMY, TokenMeter())

    assert prompt.messages[1].text == "[2023-11-15 06:13 小美]\nhi"


def test_a_name_cannot_break_out_of_its_metadata_line():
    sly = replace(record(1, "hi"), speaker=Speaker(person=PersonId("x:1"), name="a]\n[b"))

    prompt = assemble(parts([sly]), ROOMY, TokenMeter())

    assert prompt.messages[1].text == "[2023-11-15 06:13 a) (b]\nhi"


def test_the_system_part_holds_no_clock():
    first = assemble(parts(), ROOMY, TokenMeter())
    later = assemble(replace(parts(), now_ns=NOON_NS + 10**15), ROOMY, TokenMeter())

    assert first.messages[0] == later.messages[0]
    assert first.messages[1] != later.messages[1]


def test_recalled_goes_first_then_pool_and_the_summary_stays_longest():
    slots = Slots(recalled=lines("r" * 400), pool=lines("p" * 400), summary=lines("s" * 400))

    def kept(budget):
        text = assemble(parts((), slots), limited(budget), TokenMeter()).messages[-2].text
        return "".join(letter for letter in "rps" if letter * 400 in text)

    assert [kept(budget) for budget in (600, 380, 250, 120)] == ["rps", "ps", "s", ""]


def test_the_lightest_line_of_a_slot_goes_first():
    slots = Slots(recalled=lines("heavy " * 20, "light " * 20))

    text = assemble(parts((), slots), limited(120), TokenMeter()).messages[-2].text

    assert "heavy" in text
    assert "light" not in text


def test_older_window_messages_give_way_to_what_was_recalled():
    window = [record(seq, "x" * 200) for seq in range(1, 17)]

    prompt = assemble(parts(window, Slots(recalled=lines("recalled!"))), limited(600), TokenMeter())

    assert "recalled!" in prompt.messages[-2].text
    assert prompt.window_from > Seq(1)
    assert prompt.shortened


@pytest.mark.parametrize("budget", [150, 300, 600, 1200, 5000])
def test_the_budget_always_holds(budget):
    meter = TokenMeter()
    window = [record(seq, "記憶 and words " * 20) for seq in range(1, 17)]
    slots = Slots(recalled=lines(*["r" * 100] * 9), pool=lines("p"), summary=lines(*["s" * 90] * 9))

    prompt = assemble(parts(window, slots), limited(budget), meter)

    assert prompt.tokens <= budget + 10


def test_an_input_that_is_too_long_by_itself_is_refused_not_cut():
    with pytest.raises(PromptTooLong) as caught:
        assemble(parts(text="x" * 100_000), ROOMY, TokenMeter())

    assert caught.value.limit_tokens == 7192


def test_an_input_longer_than_the_soft_budget_is_still_sent_whole():
    prompt = assemble(parts(text="word " * 900), limited(300), TokenMeter())

    assert prompt.messages[-1].text.count("word") == 900


def test_the_window_keeps_its_start_from_turn_to_turn():
    window = [record(seq, "x" * 100) for seq in range(1, 13)]
    first = assemble(parts(window), limited(400), TokenMeter())

    second = assemble(
        parts([*window, record(13, "y"), record(14, "z")], kept_from=first.window_from),
        limited(400),
        TokenMeter(),
    )

    assert second.window_from == first.window_from
    assert second.messages[1] == first.messages[1]


def test_a_long_past_that_waits_for_its_summary_is_not_even_looked_at():
    class Counting(TokenMeter):
        counted = 0

        def count_message(self, message):
            self.counted += 1
            return super().count_message(message)

    meter = Counting()
    past = [record(seq) for seq in range(1, 1001)]

    prompt = assemble(parts(past), limited(300), meter)

    assert prompt.window_from > 980
    assert prompt.shortened
    assert prompt.messages[-3].text.endswith("hello there")
    assert meter.counted < 40
