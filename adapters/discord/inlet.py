"""The one way in: what was missed first, then what is live, each handed to the intake in order.

When a new session begins, live messages wait until the missed ones are in; otherwise a live one
would move its channel's position past them.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import discord
import structlog

from adapters.discord.backlog import gaps, missed
from adapters.discord.options import DISCORD, DiscordOptions
from adapters.discord.reader import MessageReader
from adapters.discord.translate import deletion_place, snowflake_at
from bot.ports import Intake, Position
from memory.ports import Clock

log = structlog.get_logger()

_QUEUE = 1000
_BATCH = 50
FINISH_S = 10.0
"""How long a connection that has ended waits until what it brought is on disk."""
_NS_PER_S = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class EditedMessage:
    """A message that says something else now."""

    message: discord.Message


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedMessages:
    """Messages that were deleted; Discord does not say whose they were."""

    channel: int
    guild: int | None
    messages: tuple[str, ...]


class Inlet:
    """Takes in the messages of one connected client."""

    def __init__(
        self,
        client: discord.Client,
        *,
        bot: int,
        intake: Intake,
        taken: Mapping[str, str],
        options: DiscordOptions,
        clock: Clock,
    ) -> None:
        self._client = client
        self._bot = bot
        self._intake = intake
        self._options = options
        self._clock = clock
        self._reader = MessageReader(client, bot=bot, chatter=options.chatter)
        self._taken = {int(k): int(v) for k, v in taken.items() if k.isdigit() and v.isdigit()}
        self._taken_before = dict(self._taken)
        self._live: asyncio.Queue[discord.Message | EditedMessage | DeletedMessages] = (
            asyncio.Queue(_QUEUE)
        )
        self._session = 0
        self._listed = asyncio.Event()
        self._caught_up = asyncio.Event()
        self._cut_off = False

    def session_began(self) -> None:
        """A new session, which replays nothing: hold what is live."""
        self._session += 1
        self._taken_before = dict(self._taken)
        self._caught_up.clear()

    def session_listed(self) -> None:
        """The servers and channels of the new session are known."""
        self._listed.set()

    async def enqueue(self, event: discord.Message | EditedMessage | DeletedMessages) -> None:
        """A live event; waits while the queue is full, in the order of the calls."""
        await self._live.put(event)

    async def finish(self) -> None:
        """Hand in what is held when the connection has ended by itself; `run` must still run.

        In the middle of catching up, positions stay where they are, and only what the next
        connection cannot read back is handed in.
        """
        self._cut_off = not self._caught_up.is_set()
        self._caught_up.set()
        try:
            async with asyncio.timeout(FINISH_S):
                await asyncio.sleep(0)  # the library has started a task for each last event
                await self._live.join()
        except TimeoutError:
            log.warning("discord.events_left", count=self._live.qsize())

    async def run(self) -> None:
        """Hand in, until cancelled.

        Raises:
            StoreError: something could not be kept; what follows it was not handed in either.
        """
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._catch_up())
            tasks.create_task(self._pass_on())

    async def _pass_on(self) -> None:
        while True:
            events = [await self._live.get()]
            await self._caught_up.wait()
            while len(events) < _BATCH and not self._live.empty():
                events.append(self._live.get_nowait())
            for kind, together in groupby(events, type):
                if kind is EditedMessage or kind is DeletedMessages:
                    for event in together:
                        await self._correct(event)
                else:
                    await self._take([one for one in together if isinstance(one, discord.Message)])
            for _ in events:
                self._live.task_done()

    async def _correct(self, event: discord.Message | EditedMessage | DeletedMessages) -> None:
        if isinstance(event, EditedMessage):
            for inbound in await self._reader.read_edit(event.message):
                await self._intake.edited(inbound)
        elif isinstance(event, DeletedMessages):
            chat = deletion_place(event.channel, guild=event.guild, bot=self._bot)
            await self._intake.deleted(chat, event.messages)

    async def _catch_up(self) -> None:
        while True:
            await self._listed.wait()
            self._listed.clear()
            session = self._session
            try:
                async with asyncio.timeout(self._options.catch_up_deadline_s):
                    await self._take_missed()
            except TimeoutError:
                log.warning("discord.catch_up_abandoned", limit_s=self._options.catch_up_deadline_s)
            if session == self._session:
                self._caught_up.set()

    async def _take_missed(self) -> None:
        age_ns = int(self._options.catch_up_age_s * _NS_PER_S)
        oldest = snowflake_at(self._clock.now_ns() - age_ns)
        found = gaps(
            self._client, self._taken_before, oldest=oldest, limit=self._options.catch_up_channels
        )
        count = 0
        async for messages in missed(self._client, found, self._options):
            count += await self._take(messages, through=messages[-1])
        log.info("discord.caught_up", channels=len(found), messages=count)

    async def _take(
        self, messages: Sequence[discord.Message], *, through: discord.Message | None = None
    ) -> int:
        """Hand in what concerns us; `through` was read as well and need not be read again."""
        if self._cut_off:
            return await self._rescue(messages)
        inbounds = await self._reader.read(messages)
        seen = [(int(inbound.chat.chat), int(inbound.message)) for inbound in inbounds]
        if through is not None:
            seen.append((through.channel.id, through.id))
        last = self._last(seen)
        if last:
            positions = [self._position(channel, message) for channel, message in last.items()]
            await self._intake.accept(inbounds, positions=positions)
            self._taken |= last
        return len(inbounds)

    async def _rescue(self, messages: Sequence[discord.Message]) -> int:
        """Hand in what was said in direct chats without a position: Discord does not list them."""
        lost = [one for one in messages if not one.guild and one.channel.id not in self._taken]
        inbounds = await self._reader.read(lost)
        await self._intake.accept(inbounds)
        return len(inbounds)

    def _last(self, seen: Sequence[tuple[int, int]]) -> dict[int, int]:
        """The last message by channel; a replayed one does not move it back."""
        last: dict[int, int] = {}
        for channel, message in seen:
            last[channel] = max(last.get(channel, self._taken.get(channel, 0)), message)
        return last

    def _position(self, channel: int, message: int) -> Position:
        return Position(
            platform=DISCORD,
            bot=str(self._bot),
            stream=str(channel),
            value=str(message),
        )
