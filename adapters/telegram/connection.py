"""The HTTP side of one bot account: the library's client, and updates as raw JSON."""

import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final
from urllib.parse import urlencode

from telegram import Bot
from telegram.error import InvalidToken, TelegramError
from telegram.request import HTTPXRequest

from adapters.telegram.errors import adapter_error
from adapters.telegram.options import TelegramOptions

UPDATE_KINDS: Final = ("message", "edited_message", "my_chat_member")
"""Fixed: Telegram remembers the list of the previous call when none is given."""

_TELLTALES = ("httpx", "httpcore", "telegram")
"""Loggers that write the token (in the URL) or the text of messages below WARNING."""


class _SilentRequest(HTTPXRequest):
    """The library's request, except that it never logs a body that it cannot read."""

    @staticmethod
    def parse_json_payload(payload: bytes) -> dict[str, Any]:
        """The JSON object of an answer.

        Raises:
            TelegramError: it is none. The library would log the whole body, people's words too.
        """
        try:
            parsed: dict[str, Any] = json.loads(payload.decode("utf-8", "replace"))
        except ValueError as error:
            raise TelegramError("Invalid server response") from error
        return parsed


class Connection:
    """Calls to the Bot API. `bot` is the library's client; never log it: its repr is the token."""

    def __init__(self, bot: Bot, polls: HTTPXRequest, options: TelegramOptions) -> None:
        self.bot = bot
        self._polls = polls
        self._options = options

    async def updates(self, offset: int) -> list[Any]:
        """The next updates as JSON values, each to be parsed alone; waits while there are none.

        The library parses all of them or none, so that one update of an unknown shape would stop
        the bot for good (its `get_updates`). Telegram then takes all below `offset` as confirmed.

        Raises:
            TelegramError: as the library has it.
        """
        query = {
            "offset": offset,
            "timeout": self._options.poll_timeout_s,
            "allowed_updates": json.dumps(UPDATE_KINDS),
        }
        result = await self._polls.post(
            f"{self.bot.base_url}/getUpdates?{urlencode(query)}",
            read_timeout=self._options.poll_timeout_s + self._options.answer_timeout_s,
        )
        return result if isinstance(result, list) else []


@asynccontextmanager
async def open_connection(options: TelegramOptions) -> AsyncIterator[Connection]:
    """A connection that is closed with the block; nothing is sent yet.

    Raises:
        LoginRefused: there is no token.
    """
    for name in _TELLTALES:
        logger = logging.getLogger(name)
        logger.setLevel(max(logger.level, logging.WARNING))
    polls, calls = _request(options, connections=1), _request(options, connections=64)
    try:
        yield Connection(_client(options, polls, calls), polls, options)
    finally:
        await calls.shutdown()
        await polls.shutdown()


def _client(options: TelegramOptions, polls: HTTPXRequest, calls: HTTPXRequest) -> Bot:
    try:
        return Bot(
            options.token.reveal(),
            base_url=options.base_url,
            request=calls,
            get_updates_request=polls,
        )
    except InvalidToken as error:
        raise adapter_error(error) from None


def _request(options: TelegramOptions, *, connections: int) -> HTTPXRequest:
    return _SilentRequest(
        connection_pool_size=connections,
        connect_timeout=options.connect_timeout_s,
        read_timeout=options.answer_timeout_s,
        write_timeout=options.answer_timeout_s,
        pool_timeout=options.answer_timeout_s,
    )
