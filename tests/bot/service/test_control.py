import asyncio
import json
import socket
import stat

import pytest

from bot.errors import ControlRefused, DataDirUnusable, ServiceNotRunning
from bot.service.control import LINE_BYTES, SOCKET, ask_service, serve_control
from memory.errors import StoreError


async def status(_arguments):
    return {"up": True, "name": "小明"}


async def echo(arguments):
    return dict(arguments)


async def refuse(_arguments):
    raise StoreError("the disk is full")


async def break_down(_arguments):
    raise KeyError("secret words")


VERBS = {"status": status, "echo": echo, "refuse": refuse, "break": break_down}


async def test_a_verb_is_answered(tmp_path):
    async with serve_control(tmp_path, VERBS):
        assert await ask_service(tmp_path, "status") == {"up": True, "name": "小明"}
        assert await ask_service(tmp_path, "echo", target="tg-1") == {"target": "tg-1"}


async def test_only_its_owner_can_open_it(tmp_path):
    async with serve_control(tmp_path, VERBS):
        assert stat.S_IMODE((tmp_path / SOCKET).stat().st_mode) == 0o600

    assert not (tmp_path / SOCKET).exists()


async def test_a_path_longer_than_an_address_works(tmp_path):
    deep = tmp_path / ("long" * 40) / "data"
    deep.mkdir(parents=True)

    async with serve_control(deep, VERBS):
        assert (deep / SOCKET).is_socket()
        assert await ask_service(deep, "status")


async def test_a_socket_that_a_killed_service_left_is_replaced(tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
        dead.bind(str(tmp_path / SOCKET))
    with pytest.raises(ServiceNotRunning):
        await ask_service(tmp_path, "status")

    async with serve_control(tmp_path, VERBS):
        assert await ask_service(tmp_path, "status")


@pytest.mark.parametrize("there", [True, False])
async def test_without_a_service_the_next_step_is_named(tmp_path, there):
    directory = tmp_path if there else tmp_path / "nowhere"

    with pytest.raises(ServiceNotRunning, match="kith run"):
        await ask_service(directory, "status")


async def test_what_fails_is_told_and_the_service_goes_on(tmp_path):
    async with serve_control(tmp_path, VERBS):
        with pytest.raises(ControlRefused, match="disk is full"):
            await ask_service(tmp_path, "refuse")
        with pytest.raises(ControlRefused) as caught:
            await ask_service(tmp_path, "break")
        assert "secret words" not in str(caught.value)
        with pytest.raises(ControlRefused, match="echo, refuse, status"):
            await ask_service(tmp_path, "explode")
        assert await ask_service(tmp_path, "status")


@pytest.mark.parametrize(
    "line", [b"\n", b"garbage\n", b"[]\n", b'"status"\n', b'{"verb": []}\n', b"\xff\xfe\n"]
)
async def test_what_is_no_request_is_answered_with_the_verbs(tmp_path, line):
    async with serve_control(tmp_path, VERBS):
        reader, writer = await asyncio.open_unix_connection(str(tmp_path / SOCKET))
        writer.write(line)
        answer = json.loads(await reader.readline())
        writer.write(b'{"verb": "status"}\n')
        assert json.loads(await reader.readline())["ok"]
        writer.close()

    assert answer["ok"] is False
    assert "status" in answer["error"]


async def test_a_line_without_end_costs_one_connection_only(tmp_path):
    async with serve_control(tmp_path, VERBS):
        reader, writer = await asyncio.open_unix_connection(str(tmp_path / SOCKET))
        with pytest.raises(ConnectionError):
            for _ in range(4 * LINE_BYTES // 65_536):
                writer.write(b"x" * 65_536)
                await writer.drain()
            assert not await reader.read()
            raise ConnectionResetError
        writer.close()
        assert await ask_service(tmp_path, "status")


async def test_a_client_that_waits_does_not_hold_up_the_end(tmp_path):
    async with asyncio.timeout(2):
        async with serve_control(tmp_path, VERBS):
            _, writer = await asyncio.open_unix_connection(str(tmp_path / SOCKET))
            await asyncio.sleep(0.05)
        writer.close()


async def test_a_directory_that_takes_no_socket_is_told_plainly(tmp_path):
    with pytest.raises(DataDirUnusable, match=r"kith\.sock"):
        async with serve_control(tmp_path / "nowhere", VERBS):
            pass
