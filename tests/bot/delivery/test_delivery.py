from bot.access.places import Place
from bot.delivery import outbox
from bot.delivery.claim import Claim
from bot.delivery.outbox import NewPart
from memory.values import Mode, SessionId
from tests.bot.house import direct, open_house, said


async def settle(house, row, text, *, on_disk=True):
    mode = Mode.FULL if on_disk else Mode.POOLS
    place = Place(session=SessionId("tg-1-7"), allowed=True, mode=mode)
    claim = Claim(row=row, inbound=said("hi"), place=place)
    async with house.database.unit() as unit:
        await house.delivery.settle(unit, claim, [text])


async def taken(house):
    """The row of a message that nobody answers by itself."""
    house.intake.stop_feeding()
    await house.intake.accept([said("hi")])
    [(row,)] = await house.rows("SELECT number FROM inbox")
    return row


async def test_a_message_is_answered_once_however_often_it_is_settled(tmp_path):
    async with open_house(tmp_path, sending=False) as house:
        row = await taken(house)

        await settle(house, row, "one")
        await settle(house, row, "two")

        assert await house.rows("SELECT text FROM outbox") == [("one",)]


async def test_a_text_that_is_not_written_is_known_until_its_part_is_closed(tmp_path):
    async with open_house(tmp_path, sending=False) as house:
        await settle(house, await taken(house), "secret", on_disk=False)
        async with house.database.reading() as reader:
            [part] = await outbox.waiting(reader)

        assert part.text is None
        assert house.delivery.text_of(part) == "secret"
        house.delivery.drop_text(part)
        assert house.delivery.text_of(part) is None


async def test_what_was_not_sent_yet_is_swept_never_however_old(tmp_path):
    async with open_house(tmp_path, sending=False) as house:
        async with house.database.unit() as unit:
            part = NewPart(chat=direct(), text="one", part=0, seed="x")
            await outbox.put(unit, part, now_ns=house.clock.now_ns())

        house.clock.advance(365 * 86_400)
        await house.delivery.sweep()

        assert await house.states("outbox") == ["waiting"]
