"""Finding an Ollama server, or saying plainly why there is none."""

import asyncio
import socket

import pytest

from adapters.calls import CallScheduler
from adapters.ollama.adapter import open_chat
from adapters.ollama.connection import (
    InstalledModel,
    _is_loopback,
    installed,
    open_client,
)
from adapters.ollama.options import OllamaOptions
from memory.errors import ModelAnswerInvalid, ModelTimedOut, ModelUnreachable
from tests.wire.ollama_server import ScriptedBackend, ServedModel, serve_ollama


@pytest.fixture
def closed_port():
    """A loopback port where nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        yield probe.getsockname()[1]


@pytest.fixture
async def mute_url():
    """A server that accepts and says nothing."""
    done = asyncio.Event()

    async def hold(reader, writer):
        await done.wait()
        writer.close()

    server = await asyncio.start_server(hold, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    done.set()
    server.close()
    await server.wait_closed()


async def test_running_server_lists_its_models():
    models = [ServedModel(name="qwen3:4b", size_bytes=2_500_000_000), ServedModel(name="bge-m3")]
    async with serve_ollama(ScriptedBackend(models=models)) as server:
        found = await installed(server.url, timeout_s=5)

    assert found == (
        InstalledModel(name="qwen3:4b", size_bytes=2_500_000_000),
        InstalledModel(name="bge-m3", size_bytes=400_000_000),
    )


async def test_nobody_listening_is_said_with_how_to_start(closed_port):
    url = f"http://127.0.0.1:{closed_port}"

    with pytest.raises(ModelUnreachable, match="ollama serve"):
        await installed(url, timeout_s=2)


async def test_nobody_listening_is_unreachable_for_a_chat_too(closed_port):
    options = OllamaOptions(url=f"http://127.0.0.1:{closed_port}", model="tiny")
    async with open_chat(options, CallScheduler().of("m")) as chat:
        with pytest.raises(ModelUnreachable, match="ollama serve"):
            await chat.limits()


async def test_server_that_accepts_and_stays_mute_is_given_up_in_time(mute_url):
    with pytest.raises(ModelTimedOut):
        await installed(mute_url, timeout_s=0.2)


async def test_another_kind_of_server_is_told_from_ollama():
    async def web_page(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        body = b"<html>hello</html>"
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(web_page, "127.0.0.1", 0)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        with pytest.raises(ModelAnswerInvalid, match="not Ollama's protocol"):
            await installed(url, timeout_s=5)


@pytest.mark.parametrize("url", ["http://[::1", "http://localhost:port", "ftp://localhost"])
async def test_address_that_is_none_is_named_as_such(url):
    with pytest.raises(ModelUnreachable, match="is not an address"):
        await installed(url, timeout_s=2)


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("http://127.0.0.1:11434", True),
        ("localhost:11434", True),
        ("http://[::1]:11434", True),
        (":11434", True),
        ("http://192.168.1.7:11434", False),
        ("https://ollama.example.org", False),
        ("http://localhost.example.org", False),
    ],
)
def test_proxies_are_left_out_for_this_machine_only(url, loopback):
    assert _is_loopback(url) is loopback


async def test_proxy_of_the_environment_does_not_stand_before_this_machine(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)

    async with serve_ollama(ScriptedBackend()) as server:
        assert len(await installed(server.url, timeout_s=5)) == 1


async def test_empty_address_means_the_usual_one():
    async with open_client(OllamaOptions(model="m", url="")) as client:
        assert str(client._client.base_url) == "http://127.0.0.1:11434"
