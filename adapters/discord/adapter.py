"""The Discord connection: its life, what is received, what is sent."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import discord
import structlog

from adapters.discord.client import Client
from adapters.discord.commands import Tree
from adapters.discord.endpoints import endpoints
from adapters.discord.errors import FOREIGN, login_fault, send_fault
from adapters.discord.inlet import Inlet
from adapters.discord.options import DISCORD, DiscordOptions
from adapters.discord.parts import parts
from adapters.discord.typist import Typist
from bot.errors import AdapterError, SendDeferred
from bot.ports import ChatRef, CommandRunner, CommandSpec, Intake, Outbound, Platform, Position
from memory.errors import KithError
from memory.ports import Clock

log = structlog.get_logger()

COMMANDS_STREAM = "commands"
"""The position stream that holds the fingerprint of the commands Discord was sent."""
_NOT_CONNECTED_S = 2.0


@asynccontextmanager
async def open_discord(
    options: DiscordOptions,
    *,
    intake: Intake,
    commands: CommandRunner,
    specs: Sequence[CommandSpec],
    clock: Clock,
) -> AsyncIterator["DiscordAdapter"]:
    """The adapter, pointed at Discord or at the endpoints that the options name."""
    with endpoints(options):
        yield DiscordAdapter(options, intake=intake, commands=commands, specs=specs, clock=clock)


class DiscordAdapter:
    """`bot.ports.ChatAdapter` over discord.py; each `run` is a fresh client."""

    def __init__(
        self,
        options: DiscordOptions,
        *,
        intake: Intake,
        commands: CommandRunner,
        specs: Sequence[CommandSpec],
        clock: Clock,
    ) -> None:
        self._options = options
        self._intake = intake
        self._commands = commands
        self._specs = tuple(specs)
        self._clock = clock
        self._typist = Typist()
        self._online: Client | None = None
        """The client that can send: None before login and between two runs."""

    @property
    def platform(self) -> Platform:
        """Discord."""
        return DISCORD

    async def run(self, ready: Callable[[], None]) -> None:
        """Receive until cancelled; `ready` is called for each new or resumed session.

        Raises:
            LoginRefused: the token or the Message Content intent; the text says what to do.
            AdapterError: it cannot go on now; start it again.
        """
        client = Client(self._options, ready)
        try:
            await self._connected(client)
        except BaseExceptionGroup as group:
            raise _fault(_first(group)) from group
        except FOREIGN as exc:
            raise login_fault(exc) from exc
        finally:
            self._online = None
            await client.close()

    async def _connected(self, client: Client) -> None:
        await client.login(self._options.token.reveal())
        if client.user is None:
            raise AdapterError("Discord did not say who we are")
        bot = client.user.id
        taken = await self._intake.positions(DISCORD, str(bot))
        await self._offer_commands(client, bot=bot, known=taken.get(COMMANDS_STREAM))
        client.inlet = Inlet(
            client,
            bot=bot,
            intake=self._intake,
            taken=taken,
            options=self._options,
            clock=self._clock,
        )
        self._online = client
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(client.inlet.run())
            tasks.create_task(self._typist.run(client))
            try:
                await client.connect()
            except FOREIGN:
                await client.inlet.finish()
                raise
            raise AdapterError("the gateway connection ended")

    async def _offer_commands(self, client: Client, *, bot: int, known: str | None) -> None:
        """Send Discord the commands if they changed; failing is no reason to stay away."""
        tree = Tree(client, self._specs, self._commands)
        fingerprint = await tree.fingerprint()
        if fingerprint == known:
            return
        try:
            await tree.publish()
        except FOREIGN as exc:
            log.warning("discord.commands_refused", error=type(exc).__name__)
            return
        position = Position(
            platform=DISCORD, bot=str(bot), stream=COMMANDS_STREAM, value=fingerprint
        )
        await self._intake.accept([], positions=[position])
        log.info("discord.commands_published", commands=len(self._specs))

    def split(self, text: str) -> list[str]:
        """Parts of at most 2000 code points; at least one, none empty."""
        return parts(text)

    async def send(self, part: Outbound) -> str:
        """Deliver one part and return Discord's message id.

        The nonce makes Discord answer a repeated send of the last minutes with the first one's
        message (developer docs, "Create Message", `enforce_nonce`). An answer to a message that
        is gone is sent without the reference.

        Raises:
            SendRefused: no rights, no such channel, a person who takes no messages, a closed thread.
            SendDeferred: a rate limit longer than we wait, or no connection.
            SendUnknown: the connection broke or Discord failed after all repetitions.
        """
        if self._online is None:
            raise SendDeferred(retry_after_s=_NOT_CONNECTED_S)
        channel = int(part.chat.chat)
        place = self._online.get_partial_messageable(channel)
        try:
            if part.reply_to is None:
                message = await place.send(part.text, nonce=part.nonce)
            else:
                reference = discord.MessageReference(
                    message_id=int(part.reply_to), channel_id=channel, fail_if_not_exists=False
                )
                message = await place.send(part.text, nonce=part.nonce, reference=reference)
        except FOREIGN as exc:
            raise send_fault(exc) from exc
        return str(message.id)

    def typing(self, chat: ChatRef) -> AbstractAsyncContextManager[None]:
        """Show that an answer is being written, for as long as the context is open."""
        return self._typist.showing(int(chat.chat))


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first error in a group of groups; the others are its consequences."""
    found = group.exceptions[0]
    return _first(found) if isinstance(found, BaseExceptionGroup) else found


def _fault(error: BaseException) -> BaseException:
    match error:
        case AdapterError():
            return error
        case KithError():
            return AdapterError(f"what was received could not be kept ({type(error).__name__})")
        case _ if isinstance(error, FOREIGN):
            return login_fault(error)
    return error
