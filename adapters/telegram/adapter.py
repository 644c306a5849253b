"""One Telegram bot account as a ChatAdapter: its life, and what it sends."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace

import structlog
from telegram import LinkPreviewOptions, ReplyParameters, User
from telegram.constants import ChatAction, MessageLimit, ParseMode
from telegram.error import BadRequest, ChatMigrated, TelegramError

from adapters.split import split, utf16_units
from adapters.telegram.connection import Connection, open_connection
from adapters.telegram.errors import adapter_error, reason, says, send_error
from adapters.telegram.formatting import to_html
from adapters.telegram.menu import Menu, menus, names
from adapters.telegram.options import TELEGRAM, TelegramOptions
from adapters.telegram.pacing import Pacing
from adapters.telegram.receiving import Receiving
from adapters.telegram.translate import Me
from bot.ports import ChatKind, ChatRef, CommandSpec, Intake, Outbound, Platform

NOTHING_TO_SAY = "…"
"""Stands for a reply without a visible character: Telegram takes no empty message."""

_NO_PREVIEW = LinkPreviewOptions(is_disabled=True)
"""A preview makes Telegram fetch the link, and a model may have put people's words into it."""

log = structlog.get_logger()


class TelegramAdapter:
    """Implements `bot.ports.ChatAdapter`; made by `open_telegram`."""

    def __init__(
        self,
        connection: Connection,
        intake: Intake,
        specs: Sequence[CommandSpec],
        options: TelegramOptions,
    ) -> None:
        self._connection = connection
        self._intake = intake
        self._specs = specs
        self._options = options
        self._pacing = Pacing(options.total_pace)

    @property
    def platform(self) -> Platform:
        """Telegram."""
        return TELEGRAM

    async def run(self, ready: Callable[[], None]) -> None:
        """Receive until cancelled; `ready` is called once Telegram has let us in.

        Raises:
            LoginRefused: the token is not accepted.
            PollingConflict: another process keeps reading this bot's updates.
            AdapterError: Telegram or the inbox failed too often in a row.
        """
        user = await self._log_in()
        ready()
        await self._offer_commands()
        me = Me(id=user.id, username=user.username or "", commands=names(self._specs))
        await Receiving(self._connection, self._intake, me, self._options).run()

    def split(self, text: str) -> list[str]:
        """Parts of at most 4096 UTF-16 units; formatting only makes them shorter."""
        limit = int(MessageLimit.MAX_TEXT_LENGTH)
        return split(text, limit=limit, length=utf16_units) or [NOTHING_TO_SAY]

    async def send(self, part: Outbound) -> str:
        """Deliver one part, formatted where Telegram takes it, and return the message's id.

        Raises:
            SendRefused: blocked, removed, no such chat.
            SendDeferred: Telegram asks to wait, or could not be reached at all.
            SendUnknown: the connection ended after the request had gone out.
        """
        direct = part.chat.kind is ChatKind.DIRECT
        pace = self._options.direct_pace if direct else self._options.group_pace
        html = to_html(part.text)
        await self._pacing.turn(part.chat.chat, pace)
        while True:
            try:
                return await self._send(part, html)
            except ChatMigrated as error:
                part = await self._migrated(part, str(error.new_chat_id))
            except BadRequest as error:
                if html is not None and _is_about_text(error):
                    html = None
                elif part.chat.topic is not None and says(error, "message thread not found"):
                    part = replace(part, chat=replace(part.chat, topic=None))
                else:
                    raise send_error(error) from error
                log.info("send.simplified", chat=part.chat.chat, why=reason(error))
            except TelegramError as error:
                raise send_error(error) from error

    def typing(self, chat: ChatRef) -> AbstractAsyncContextManager[None]:
        """Show "typing" while the context is open; that it cannot be shown is no failure."""
        return self._typing(chat)

    async def _log_in(self) -> User:
        """Ask who we are, and make sure that no webhook takes our updates away."""
        try:
            user = await self._connection.bot.get_me()
            await self._connection.bot.delete_webhook(drop_pending_updates=False)
        except TelegramError as error:
            raise adapter_error(error) from error
        log.info("telegram.connected", bot=str(user.id))
        return user

    async def _offer_commands(self) -> None:
        """Set the menus that differ from what Telegram shows; a failure only costs the menu."""
        try:
            for menu in menus(self._specs):
                await self._offer(menu)
        except TelegramError as error:
            log.warning("menu.failed", platform="telegram", why=reason(error))

    async def _offer(self, menu: Menu) -> None:
        bot = self._connection.bot
        shown = await bot.get_my_commands(scope=menu.scope, language_code=menu.language)
        if shown != menu.commands:
            await bot.set_my_commands(menu.commands, scope=menu.scope, language_code=menu.language)
            log.info("menu.updated", language=menu.language, commands=len(menu.commands))

    async def _send(self, part: Outbound, html: str | None) -> str:
        reply = None
        if part.reply_to is not None:
            reply = ReplyParameters(int(part.reply_to), allow_sending_without_reply=True)
        message = await self._connection.bot.send_message(
            int(part.chat.chat),
            part.text if html is None else html,
            parse_mode=None if html is None else ParseMode.HTML,
            message_thread_id=None if part.chat.topic is None else int(part.chat.topic),
            reply_parameters=reply,
            link_preview_options=_NO_PREVIEW,
        )
        return str(message.message_id)

    async def _migrated(self, part: Outbound, chat: str) -> Outbound:
        """The same part for the supergroup that the group has become; its messages have new ids."""
        new = replace(part.chat, chat=chat, topic=None)
        await self._intake.moved(part.chat, new)
        return replace(part, chat=new, reply_to=None)

    @asynccontextmanager
    async def _typing(self, chat: ChatRef) -> AsyncIterator[None]:
        tasks = asyncio.TaskGroup()
        await tasks.__aenter__()
        shown = tasks.create_task(self._keep_typing(chat))
        try:
            yield
        finally:
            shown.cancel()
            # Not an `async with`: what the body raises is the caller's, without a group round it.
            await tasks.__aexit__(None, None, None)

    async def _keep_typing(self, chat: ChatRef) -> None:
        topic = None if chat.topic is None else int(chat.topic)
        while True:
            try:
                await self._connection.bot.send_chat_action(
                    int(chat.chat), ChatAction.TYPING, message_thread_id=topic
                )
            except TelegramError as error:
                log.debug("typing.failed", chat=chat.chat, why=reason(error))
            await asyncio.sleep(self._options.typing_every_s)


def _is_about_text(error: BadRequest) -> bool:
    """Whether plain text would be taken where HTML was not."""
    return any(says(error, words) for words in ("parse entities", "too long", "text is empty"))


@asynccontextmanager
async def open_telegram(
    options: TelegramOptions, *, intake: Intake, commands: Sequence[CommandSpec] = ()
) -> AsyncIterator[TelegramAdapter]:
    """An adapter whose connections are closed with the block; `commands` fill Telegram's menu.

    Raises:
        LoginRefused: the token is empty.
    """
    async with open_connection(options) as connection:
        yield TelegramAdapter(connection, intake, commands, options)
