"""The control socket: how `kith` commands speak with the service that owns a data directory.

A Unix socket in the data directory, mode 0600. One line of JSON asks, one line answers:
`{"verb": "status"}` -> `{"ok": true, "result": ...}` or `{"ok": false, "error": "..."}`.
"""

import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import structlog

from bot.errors import ControlRefused, DataDirUnusable, ServiceNotRunning
from memory.errors import KithError

log = structlog.get_logger()

SOCKET = "kith.sock"
LINE_BYTES = 1_000_000
"""Longest request or answer."""
ANSWER_S = 30.0
"""A client waits no longer."""

Arguments = Mapping[str, Any]
Verb = Callable[[Arguments], Awaitable[object]]
"""What carries a request out; its result must be what JSON can say."""


@asynccontextmanager
async def serve_control(directory: Path, verbs: Mapping[str, Verb]) -> AsyncIterator[None]:
    """Serve requests for as long as the context is open.

    Whoever calls it owns the directory, so a socket file that is there belongs to nobody.

    Raises:
        DataDirUnusable: the socket cannot be made there.
    """
    with _bound(directory) as listening:
        async with asyncio.TaskGroup() as tasks:
            talks: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

            def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                if not server.is_serving():
                    writer.close()
                    return
                talk = tasks.create_task(_talk(reader, writer, verbs))
                talks[talk] = writer
                # Here, not in the task: one that is cancelled early never begins.
                talk.add_done_callback(lambda ended: talks.pop(ended).close())

            server = await asyncio.start_unix_server(connected, sock=listening, limit=LINE_BYTES)
            try:
                yield
            finally:
                server.close()
                for talk in talks:
                    talk.cancel()


async def _talk(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, verbs: Mapping[str, Verb]
) -> None:
    # ValueError: the line is longer than LINE_BYTES. OSError: the client has left.
    with suppress(OSError, ValueError):
        while line := await reader.readline():
            answer = await _answer(line, verbs)
            writer.write(json.dumps(answer, ensure_ascii=False).encode() + b"\n")
            await writer.drain()


async def _answer(line: bytes, verbs: Mapping[str, Verb]) -> dict[str, object]:
    try:
        request = json.loads(line)
        verb = verbs[request["verb"]]
        arguments = dict(request.get("arguments", {}))
    except (ValueError, KeyError, TypeError):
        return {"ok": False, "error": f"no such verb; there are: {', '.join(sorted(verbs))}"}
    try:
        return {"ok": True, "result": await verb(arguments)}
    except KithError as error:
        return {"ok": False, "error": str(error)}
    except Exception:
        # A job boundary: a fault in one verb must not end the service.
        log.exception("control.failed", verb=request["verb"])
        return {"ok": False, "error": "the service failed to do it; its log says why"}


async def ask_service(
    directory: Path, verb: str, *, wait_s: float = ANSWER_S, **arguments: object
) -> Any:  # noqa: ANN401 - JSON
    """What the service that owns the directory answers to a verb, within `wait_s` seconds.

    Raises:
        ServiceNotRunning: no service runs there, or it does not answer.
        ControlRefused: it does not do that; the text says why.
    """
    request = json.dumps({"verb": verb, "arguments": arguments}, ensure_ascii=False)
    try:
        async with asyncio.timeout(wait_s):
            with _reachable(directory) as path:
                reader, writer = await asyncio.open_unix_connection(path, limit=LINE_BYTES)
            try:
                writer.write(request.encode() + b"\n")
                answer = json.loads(await reader.readline())
            finally:
                writer.close()
    except (OSError, ValueError) as error:
        raise ServiceNotRunning(f"no Kith runs in {directory}; start it with: kith run") from error
    if not answer["ok"]:
        raise ControlRefused(answer["error"])
    return answer["result"]


@contextmanager
def _bound(directory: Path) -> Iterator[socket.socket]:
    """A socket at its place in the directory, for this user only; removed at the end."""
    place = directory / SOCKET
    place.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        try:
            with _reachable(directory) as path:
                listening.bind(path)
        except OSError as error:
            raise DataDirUnusable(f"{place} cannot be made: {error.strerror}") from error
        # Nobody can connect in between: it listens later.
        place.chmod(0o600)
        try:
            yield listening
        finally:
            place.unlink(missing_ok=True)


@contextmanager
def _reachable(directory: Path) -> Iterator[str]:
    """The socket's path, short enough: an address holds 107 bytes (unix(7)).

    A longer one is reached through a descriptor of the directory (Linux).
    """
    path = str(directory / SOCKET)
    if len(os.fsencode(path)) <= _ADDRESS_BYTES:
        yield path
        return
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{descriptor}/{SOCKET}"
    finally:
        os.close(descriptor)


_ADDRESS_BYTES = 103
"""107 on Linux; macOS has 103."""
