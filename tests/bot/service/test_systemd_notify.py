import asyncio
import socket

import pytest

from bot.service.systemd_notify import Notifier


@pytest.fixture
def systemd(tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiving:
        receiving.bind(str(tmp_path / "notify"))
        receiving.settimeout(2)
        yield receiving


def test_a_state_arrives_as_one_datagram(systemd):
    Notifier({"NOTIFY_SOCKET": systemd.getsockname()}).notify("READY=1")

    assert systemd.recv(100) == b"READY=1"


def test_an_abstract_socket_is_reached_too():
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiving:
        receiving.bind("\0kith-test-notify")
        receiving.settimeout(2)

        Notifier({"NOTIFY_SOCKET": "@kith-test-notify"}).notify("STOPPING=1")

        assert receiving.recv(100) == b"STOPPING=1"


@pytest.mark.parametrize("env", [{}, {"NOTIFY_SOCKET": "/nowhere/notify"}])
def test_without_systemd_nothing_happens(env):
    Notifier(env).notify("READY=1")


@pytest.mark.looptime
async def test_the_watchdog_hears_twice_as_often_as_it_asks(systemd):
    env = {"NOTIFY_SOCKET": systemd.getsockname(), "WATCHDOG_USEC": "60000000"}

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(100):
            await Notifier(env).keep_alive()

    systemd.setblocking(False)
    assert [systemd.recv(100) for _ in range(4)] == [b"WATCHDOG=1"] * 4
    with pytest.raises(BlockingIOError):
        systemd.recv(100)


@pytest.mark.looptime
@pytest.mark.parametrize("usec", ["", "soon"])
async def test_without_a_watchdog_it_only_waits(systemd, usec):
    notifier = Notifier({"NOTIFY_SOCKET": systemd.getsockname(), "WATCHDOG_USEC": usec})

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(100):
            await notifier.keep_alive()
