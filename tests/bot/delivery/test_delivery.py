from bot.access.places import Place
from bot.delivery import outbox
from bot.delivery.claim import Claim
from bot.delivery.outbox import NewPart
from memory.values import Mode, SessionId
from tests.bot.stack import direct, open_stack, said


async def settle(stack, row, text, *, on_disk=True):
    mode = Mode.FULL if on_disk else Mode.POOLS
    place = Place(session=SessionId("tg-1-7"), allowed=True, mode=mode)
    claim = Claim(row=row, inbound=said("hi"), place=place)
    async with stack.database.unit() as unit:
        await stack.delivery.settle(unit, claim, [text])


async def taken(stack):
    """The row of a message that nobody answers by itself."""
    stack.intake.stop_feeding()
    await stack.intake.accept([said("hi")])
    [(row,)] = await stack.rows("SELECT number FROM inbox")
    return row


async def test_a_message_is_answered_once_however_often_it_is_settled(tmp_path):
    async with open_stack(tmp_path, sending=False) as stack:
        row = await taken(stack)

        await settle(stack, row, "one")
        await settle(stack, row, "two")

        assert await stack.rows("SELECT text FROM outbox") == [("one",)]


async def test_a_text_that_is_not_written_is_known_until_its_part_is_closed(tmp_path):
    async with open_stack(tmp_path, sending=False) as stack:
        await settle(stack, await taken(stack), "secret", on_disk=False)
        async with stack.database.reading() as reader:
            [part] = await outbox.waiting(reader)

        assert part.text is None
        assert stack.delivery.text_of(part) == "secret"
        stack.delivery.drop_text(part)
        assert stack.delivery.text_of(part) is None


async def test_what_was_not_sent_yet_is_swept_never_however_old(tmp_path):
    async with open_stack(tmp_path, sending=False) as stack:
        async with stack.database.unit() as unit:
            part = NewPart(chat=direct(), text="one", part=0, seed="x")
            await outbox.put(unit, part, now_ns=stack.clock.now_ns())

        stack.clock.advance(365 * 86_400)
        await stack.delivery.sweep()

        assert await stack.states("outbox") == ["waiting"]
