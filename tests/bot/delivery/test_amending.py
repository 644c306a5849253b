import asyncio

import pytest

from adapters.discord.options import DISCORD
from bot.config.access_settings import AccessSettings, IdLists
from tests.bot.stack import direct, echo, group, open_stack, said, until
from tests.fakes import FakeAdapter, FakeChatModel

DISCORD_DM = direct(chat="900", platform=DISCORD)
DISCORD_CHANNEL = group(chat="500", platform=DISCORD, guild="1")


class Held:
    """A model that answers when it is let go."""

    def __init__(self):
        self.gate = asyncio.Event()
        self.asked = asyncio.Event()

    async def __call__(self, request):
        self.asked.set()
        await self.gate.wait()
        return echo(request)


async def texts(stack):
    return [row[0] for row in await stack.rows("SELECT text FROM messages ORDER BY seq")]


async def test_an_edit_changes_what_is_remembered_and_is_not_answered(tmp_path):
    async with open_stack(tmp_path) as stack:
        await stack.intake.accept([said("black tea")])
        await stack.settled()

        await stack.intake.edited(said("綠茶"))
        await stack.settled()

        assert await texts(stack) == ["綠茶", "re: black tea"]
        assert stack.adapter.texts() == ["re: black tea"]


async def test_an_edit_during_the_answer_is_made_when_the_answer_is_kept(tmp_path):
    model = Held()
    async with open_stack(tmp_path, model=FakeChatModel(model)) as stack:
        await stack.intake.accept([said("black tea")])
        await model.asked.wait()

        await stack.intake.edited(said("綠茶"))
        model.gate.set()
        await until(lambda: _is_kept(stack))
        await stack.settled()

        assert await texts(stack) == ["綠茶", "re: black tea"]


async def _is_kept(stack):
    return bool(await texts(stack))


async def test_after_a_crash_a_message_is_answered_as_it_was_edited(tmp_path):
    model = Held()
    async with open_stack(tmp_path, model=FakeChatModel(model)) as stack:
        await stack.intake.accept([said("black tea")])
        await model.asked.wait()
        await stack.intake.edited(said("綠茶"))

    async with open_stack(tmp_path) as stack:
        await stack.settled()

        assert stack.adapter.texts() == ["re: 綠茶"]


async def test_a_stranger_changes_nothing(tmp_path):
    async with open_stack(tmp_path) as stack:
        await stack.intake.accept([said("black tea")])
        await stack.settled()

    closed = AccessSettings(allow=IdLists(users=("8",)))
    async with open_stack(tmp_path, access=closed) as stack:
        await stack.intake.edited(said("綠茶"))

        assert (await texts(stack))[0] == "black tea"


@pytest.mark.parametrize("chat", [DISCORD_DM, DISCORD_CHANNEL])
async def test_a_deletion_takes_the_message_in_its_place_alone(tmp_path, chat):
    other = group(chat="5001", platform=DISCORD, guild="1")
    async with open_stack(tmp_path, adapter=FakeAdapter(DISCORD)) as stack:
        await stack.intake.accept([said("secret", "1", chat=chat), said("keep", "2", chat=chat)])
        await stack.intake.accept([said("elsewhere", "1", chat=other)])
        await stack.settled()

        await stack.intake.deleted(chat, ["1"])

        assert "secret" not in await texts(stack)
        assert {"keep", "elsewhere"} <= set(await texts(stack))


async def test_a_deletion_in_a_place_with_a_new_id_takes_what_was_said_under_the_old_one(tmp_path):
    old, new = group("-100"), group("-200")
    async with open_stack(tmp_path) as stack:
        await stack.intake.accept([said("secret", "1", chat=old)])
        await stack.settled()
        await stack.intake.moved(old, new)

        await stack.intake.deleted(new, ["1"])

        assert "secret" not in await texts(stack)


async def test_a_deletion_under_a_new_id_reaches_what_waits_under_the_old_one(tmp_path):
    old, new = group("-100"), group("-200")
    model = Held()
    async with open_stack(tmp_path, model=FakeChatModel(model)) as stack:
        await stack.intake.accept([said("first", "1", chat=old), said("second", "2", chat=old)])
        await model.asked.wait()
        await stack.intake.moved(old, new)

        await stack.intake.deleted(new, ["2"])
        model.gate.set()
        await stack.settled()

        assert stack.adapter.texts("-200") == ["re: first"]
        assert "second" not in await texts(stack)


async def test_what_is_deleted_before_its_turn_is_not_answered(tmp_path):
    model = Held()
    async with open_stack(tmp_path, model=FakeChatModel(model)) as stack:
        await stack.intake.accept([said("first", "1"), said("second", "2")])
        await model.asked.wait()

        await stack.intake.deleted(direct(), ["2"])
        model.gate.set()
        await until(lambda: _is_kept(stack))
        await stack.settled()

        assert stack.adapter.texts() == ["re: first"]
        assert "second" not in await texts(stack)


async def test_what_is_deleted_during_its_turn_is_forgotten_when_the_turn_is_over(tmp_path):
    model = Held()
    async with open_stack(tmp_path, model=FakeChatModel(model)) as stack:
        await stack.intake.accept([said("secret")])
        await model.asked.wait()

        await stack.intake.deleted(direct(), ["1"])
        model.gate.set()
        await until(lambda: _is_kept(stack))
        await stack.settled()

        assert "secret" not in await texts(stack)
