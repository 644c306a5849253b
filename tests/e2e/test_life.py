"""Start, strangers, stop: what an operator relies on."""

import asyncio
import json
import sys

import pytest

from tests.e2e.harness import (
    ROOT,
    datagrams,
    kith,
    notify_socket,
    open_rows,
    open_world,
    running,
    until,
)
from tests.e2e.test_talk import discord_texts, telegram_texts
from tests.wire.telegram_values import Person, group, private

STRANGE = ("zebra-in-telegram", "zebra-in-discord", "斑馬在群組裡", "zebra-that-is-denied")


async def test_what_strangers_say_is_neither_answered_nor_on_disk(tmp_path):
    async with open_world(tmp_path) as world:
        [friend, denied], _ = world.people(2)
        world.allow["discord"] = ""
        world.deny["telegram"] = f"users = [{denied.id}]"
        stranger = Person(id=666, first_name="zebra-by-name")
        user = world.discord.user("zebra-by-name")
        async with running(world) as process:
            world.telegram.say(private(stranger), stranger, STRANGE[0])
            world.discord.dm(user, STRANGE[1])
            world.telegram.say(group(-5), stranger, f"@kith_test_bot {STRANGE[2]}")
            world.telegram.say(private(denied), denied, STRANGE[3])
            world.telegram.say(private(stranger), stranger, "/whoami zebra-in-a-command")
            world.telegram.say(private(friend), friend, "elephant")
            await until(lambda: telegram_texts(world, friend) == ["re: elephant"])
            await asyncio.sleep(0.3)
            process.terminate()
            assert await process.ended() == 0

        assert world.echo.asked == ["elephant"]
        assert discord_texts(world, user) == []
        assert not world.telegram.sent_now(stranger.id) + world.telegram.sent_now(denied.id)
        kept = b"".join(path.read_bytes() for path in world.data.rglob("*") if path.is_file())
        assert b"elephant" in kept
        for trace in (b"zebra", "斑馬".encode()):
            assert trace not in kept
            assert trace not in process.log.encode()


async def test_a_stop_ends_the_answers_under_way_and_systemd_hears_of_it(tmp_path):
    async with open_world(tmp_path) as world:
        [person], [user] = world.people(1)
        begun = asyncio.Event()

        async def slow(_said):
            begun.set()
            await asyncio.sleep(1)

        world.echo.on_call = slow
        with notify_socket(tmp_path / "notify") as systemd:
            async with running(world, NOTIFY_SOCKET=str(tmp_path / "notify")) as process:
                assert datagrams(systemd) == ["READY=1"]
                world.telegram.say(private(person), person, "one")
                world.discord.dm(user, "two")
                await until(lambda: len(world.echo.asked) >= 1)
                await until(lambda: open_rows(world) == 2)
                process.terminate()
                assert await process.ended() == 0
            assert datagrams(systemd) == ["STOPPING=1"]

        assert telegram_texts(world, person) == ["re: one"]
        assert discord_texts(world, user) == ["re: two"]


async def test_a_second_signal_ends_it_at_once_and_the_next_process_goes_on(tmp_path):
    async with open_world(tmp_path) as world:
        [person], _ = world.people(1)
        begun = asyncio.Event()

        async def hang(_said):
            begun.set()
            await asyncio.Event().wait()

        world.echo.on_call = hang
        async with running(world) as process:
            world.telegram.say(private(person), person, "one")
            await begun.wait()
            process.terminate()
            await process.logged("service.stopping")
            process.terminate()
            assert await process.ended() == 130
            assert telegram_texts(world, person) == []
        world.echo.on_call = None
        async with running(world):
            await until(lambda: telegram_texts(world, person) == ["re: one"])


@pytest.mark.parametrize("bad", ["both", "one"])
async def test_a_bad_token_ends_its_platform_and_the_service_only_when_none_is_left(tmp_path, bad):
    async with open_world(tmp_path) as world:
        [_], [user] = world.people(1)
        world.tokens["KITH_TELEGRAM_TOKEN"] = "4242:wrong-token_0123456789abcdefghijk"
        if bad == "both":
            world.tokens["KITH_DISCORD_TOKEN"] = "wrong"
            async with kith(world, "run") as process:
                assert await process.ended() == 78, process.log
            assert "BotFather" in process.log
            assert "discord.com/developers" in process.log
        else:
            async with running(world):
                world.discord.dm(user, "hello")
                await until(lambda: discord_texts(world, user) == ["re: hello"])
                adapters = (await ask(world, "status"))["adapters"]
            standings = {one["platform"]: one["standing"] for one in adapters}
            assert standings == {"telegram": "given up", "discord": "up"}


async def ask(world, verb, *arguments):
    """What `kith VERB --json` prints, its exit status under `exit`."""
    command = [sys.executable, "-m", "bot", verb, *arguments, "--json"]
    async with asyncio.timeout(20):
        done = await asyncio.create_subprocess_exec(
            *command, "--config", str(world.config()), cwd=world.directory,
            env={"HOME": str(world.directory), "PYTHONPATH": str(ROOT), **world.tokens},
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        printed, complaint = await done.communicate()
    assert printed, complaint.decode()
    found = json.loads(printed)
    return {**found, "exit": done.returncode} if isinstance(found, dict) else found


async def test_the_doctor_finds_a_healthy_installation_healthy_and_names_the_traps(tmp_path):
    async with open_world(tmp_path) as world:
        world.people(1)
        healthy = await ask(world, "doctor")
        world.telegram.reads_all_group_messages = False
        world.discord.gateway.content_allowed = False
        world.echo.models = ()
        trapped = await ask(world, "doctor")

    assert {one["level"] for one in healthy} == {"ok"}
    found = {(one["check"], one["level"]): one for one in trapped}
    assert "setprivacy" in found["telegram", "warning"]["fix"]
    assert "Message Content Intent" in found["discord", "failed"]["fix"]
    assert "ollama pull tiny" in found["model", "failed"]["fix"]
