"""What an operator wants to know about a bot's account before it runs."""

from dataclasses import dataclass

from telegram.error import TelegramError

from adapters.telegram.connection import open_connection
from adapters.telegram.errors import adapter_error
from adapters.telegram.options import TelegramOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class TelegramFacts:
    """What Telegram says about the bot."""

    id: str
    username: str
    reads_all_group_messages: bool
    """False while privacy mode is on: in groups only commands, mentions and replies arrive.
    After turning it off the bot must be removed from each group and added again."""


async def check(options: TelegramOptions) -> TelegramFacts:
    """Ask who we are.

    Raises:
        LoginRefused: the token is not accepted.
        PlatformUnreachable: Telegram did not answer.
    """
    async with open_connection(options) as connection:
        try:
            user = await connection.bot.get_me()
        except TelegramError as error:
            raise adapter_error(error) from error
    return TelegramFacts(
        id=str(user.id),
        username=user.username or "",
        reads_all_group_messages=bool(user.can_read_all_group_messages),
    )
