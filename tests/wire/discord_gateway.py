"""The websocket side of the loopback Discord: the gateway's protocol, version 10.

Source: the gateway pages of Discord's developer documentation (opcodes, close codes, resuming).
"""

import asyncio
import contextlib
import json
import zlib
from dataclasses import dataclass, field

from aiohttp import WSMsgType, web

from tests.wire.discord_world import Payload, World, snowflake

DISPATCH, HEARTBEAT, IDENTIFY, RESUME = 0, 1, 2, 6
RECONNECT, INVALID_SESSION, HELLO, HEARTBEAT_ACK = 7, 9, 10, 11
AUTHENTICATION_FAILED, DISALLOWED_INTENTS, UNKNOWN_ERROR = 4004, 4014, 4000
MESSAGE_CONTENT = 1 << 15


@dataclass(slots=True, eq=False)
class Session:
    """One identified client: it outlives its socket, so that it can be resumed."""

    id: str
    intents: int
    seq: int = 0
    log: list[Payload] = field(default_factory=list)
    wire: "Wire | None" = None

    def push(self, event: str, data: Payload) -> None:
        self.seq += 1
        frame = {"op": DISPATCH, "t": event, "s": self.seq, "d": data}
        self.log.append(frame)
        if self.wire is not None:
            self.wire.put(frame)


class Wire:
    """One socket: frames are queued, then written in order by the socket's own task."""

    def __init__(self, socket: web.WebSocketResponse, *, compress: bool) -> None:
        self.socket = socket
        self._frames: asyncio.Queue[Payload | int] = asyncio.Queue()
        self._deflate = zlib.compressobj() if compress else None

    def put(self, frame: Payload) -> None:
        self._frames.put_nowait(frame)

    def close(self, code: int) -> None:
        """Close after the frames that wait."""
        self._frames.put_nowait(code)

    async def write(self) -> None:
        while not self.socket.closed:
            frame = await self._frames.get()
            if isinstance(frame, int):
                await self.socket.close(code=frame)
                return
            with contextlib.suppress(ConnectionError):
                await self._send(json.dumps(frame))

    async def _send(self, text: str) -> None:
        if self._deflate is None:
            await self.socket.send_str(text)
            return
        data = self._deflate.compress(text.encode()) + self._deflate.flush(zlib.Z_SYNC_FLUSH)
        await self.socket.send_bytes(data)


class Gateway:
    """Sessions, and the faults that a test switches on."""

    def __init__(self, world: World, *, token: str) -> None:
        self._world = world
        self._token = token
        self.url = ""
        self.sessions: list[Session] = []
        self.heartbeat_ms = 41_250
        self.content_allowed = True
        """Whether the Message Content intent is switched on in the developer portal."""
        self.silent = False
        """Acknowledge no heartbeats: a zombie."""
        self.refuse_resume = False
        """Answer the next RESUME with INVALID_SESSION."""
        self.rewind = 0
        """How many events before the asked-for one the next RESUME replays once more."""
        self.identifies = 0
        self.resumes = 0
        self.heartbeats = 0
        self.arrived = asyncio.Event()
        """Set whenever a client has identified or resumed."""
        self._wires: list[tuple[Wire, web.BaseRequest]] = []

    # --- what a test does

    def dispatch(self, event: str, data: Payload) -> None:
        """Send an event to every session, also to those whose socket is gone just now."""
        for session in self.sessions:
            session.push(event, data)

    def deliver(self, message: Payload, event: str = "MESSAGE_CREATE") -> None:
        """Send a message to every session as far as its intents let it read."""
        for session in self.sessions:
            content = bool(session.intents & MESSAGE_CONTENT)
            seen = self._world.seen(message, content_intent=content)
            session.push(event, self._world.event(seen))

    def kill(self) -> None:
        """Drop every socket in the middle of the line."""
        for _, request in self._wires:
            if request.transport is not None:
                request.transport.abort()

    def close(self, code: int = UNKNOWN_ERROR) -> None:
        """Close every socket properly, with a code."""
        for wire, _ in self._wires:
            wire.close(code)

    def say(self, op: int, data: object = None) -> None:
        """Send a bare opcode to every socket: RECONNECT, INVALID_SESSION, HEARTBEAT."""
        for wire, _ in self._wires:
            wire.put({"op": op, "d": data, "s": None, "t": None})

    def forget(self) -> None:
        """Lose every session: a RESUME is then refused."""
        self.sessions.clear()

    @property
    def connected(self) -> bool:
        return any(session.wire is not None for session in self.sessions)

    @property
    def application_flags(self) -> int:
        """Bit 19: Message Content, as unverified bots have it."""
        return (1 << 19) if self.content_allowed else 0

    # --- the protocol

    async def handle(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(max_msg_size=4096)
        await socket.prepare(request)
        wire = Wire(socket, compress=request.query.get("compress") == "zlib-stream")
        entry = (wire, request)
        self._wires.append(entry)
        wire.put({"op": HELLO, "d": {"heartbeat_interval": self.heartbeat_ms}})
        try:
            async with asyncio.TaskGroup() as tasks:
                writer = tasks.create_task(wire.write())
                await self._read(wire)
                writer.cancel()
        finally:
            self._wires.remove(entry)
            for session in self.sessions:
                if session.wire is wire:
                    session.wire = None
        return socket

    async def _read(self, wire: Wire) -> None:
        async for frame in wire.socket:
            if frame.type is not WSMsgType.TEXT:
                return
            message = json.loads(frame.data)
            match message["op"]:
                case 1:
                    self._beat(wire)
                case 2:
                    self._identify(wire, message["d"])
                case 6:
                    self._resume(wire, message["d"])

    def _beat(self, wire: Wire) -> None:
        self.heartbeats += 1
        if not self.silent:
            wire.put({"op": HEARTBEAT_ACK})

    def _identify(self, wire: Wire, data: Payload) -> None:
        self.identifies += 1
        if data["token"] != self._token:
            wire.close(AUTHENTICATION_FAILED)
            return
        if data["intents"] & MESSAGE_CONTENT and not self.content_allowed:
            wire.close(DISALLOWED_INTENTS)
            return
        session = Session(id=f"session{snowflake()}", intents=data["intents"], wire=wire)
        self.sessions.append(session)
        session.push("READY", self._ready(session))
        for guild in self._world.guilds.values():
            session.push("GUILD_CREATE", guild.payload())
        self.arrived.set()

    def _ready(self, session: Session) -> Payload:
        guilds = [{"id": id_, "unavailable": True} for id_ in self._world.guilds]
        return {
            "v": 10,
            "user": self._world.bot.payload() | {"verified": True, "mfa_enabled": False},
            "guilds": guilds,
            "session_id": session.id,
            "resume_gateway_url": self.url,
            "application": {"id": self._world.bot.id, "flags": self.application_flags},
        }

    def _resume(self, wire: Wire, data: Payload) -> None:
        self.resumes += 1
        session = next((s for s in self.sessions if s.id == data["session_id"]), None)
        if session is None or self.refuse_resume or data["token"] != self._token:
            self.refuse_resume = False
            wire.put({"op": INVALID_SESSION, "d": False})
            return
        after = max(data["seq"] - self.rewind, 1)
        self.rewind = 0
        for frame in session.log:
            if frame["s"] > after:
                wire.put(frame)
        session.wire = wire
        session.push("RESUMED", {"_trace": []})
        self.arrived.set()
