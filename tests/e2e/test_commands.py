"""One table of commands behind text on Telegram and slash commands on Discord."""

import asyncio

from tests.e2e.harness import open_rows, open_world, running, until
from tests.e2e.test_talk import discord_texts, telegram_texts
from tests.wire.telegram_values import group, private


async def test_commands_work_on_both_platforms_while_answers_are_being_written(tmp_path):
    async with open_world(tmp_path) as world:
        [person], [user] = world.people(1)
        stranger = world.discord.user("Stranger")
        asked, go_on = asyncio.Event(), asyncio.Event()

        async def hang(said):
            if said == "a long story":
                asked.set()
                await go_on.wait()

        world.echo.on_call = hang
        async with running(world):
            world.discord.dm(user, "綠茶")
            await until(lambda: discord_texts(world, user) == ["re: 綠茶"])
            world.telegram.say(private(person), person, "a long story")
            await asked.wait()
            world.telegram.say(private(person), person, "/status")
            await until(lambda: telegram_texts(world, person))
            assert "ollama" in telegram_texts(world, person)[0]
            world.telegram.say(private(person), person, "/stop")
            await until(lambda: len(telegram_texts(world, person)) == 3)
            go_on.set()
            assert set(telegram_texts(world, person)[1:]) == {"I am stopping.", "Stopped."}
            room = group(-7)
            world.telegram.say(room, person, "/nonsense@another_bot")
            world.telegram.say(room, person, "/whoami@kith_test_bot")
            await until(lambda: world.telegram.sent_now(-7))
            [told] = world.telegram.sent_now(-7)
            assert f"telegram:{person.id}" in told.text
            await reset_on_discord(world, user, stranger)

        assert open_rows(world) == 0


async def test_several_words_are_looked_for_however_a_command_is_given(tmp_path):
    async with open_world(tmp_path) as world:
        [person], [user] = world.people(1)
        async with running(world):
            world.telegram.say(private(person), person, "my tea is green")
            world.discord.dm(user, "my tea is green")
            await until(lambda: telegram_texts(world, person) and discord_texts(world, user))

            for query, found in (("green tea", True), ('"green tea"', False), ('"tea is"', True)):
                sent = len(telegram_texts(world, person))
                world.telegram.say(private(person), person, f"/history {query}")
                await until(lambda sent=sent: len(telegram_texts(world, person)) > sent)
                assert ("my tea is green" in telegram_texts(world, person)[-1]) is found
                asked = world.discord.interaction(user, "history", {"query": query})
                assert ("my tea is green" in (await asked.texts())[0]) is found


async def reset_on_discord(world, user, stranger):
    refused = world.discord.interaction(stranger, "reset", {"confirm": True})
    assert "may not" in (await refused.texts())[0]
    before = world.discord.interaction(user, "reset", language="zh-TW")
    assert "2 則訊息" in (await before.texts())[0]
    mine = world.discord.interaction(user, "status", language="zh-TW")
    assert "記得的訊息：2 則" in (await mine.texts())[0]
    assert mine.ephemeral
    done = world.discord.interaction(user, "reset", {"confirm": True}, language="zh-TW")
    assert "對話訊息: 已清除" in (await done.texts())[0]
    admin = world.discord.interaction(user, "admin sessions")
    assert "administrator" in (await admin.texts())[0]
