"""What Telegram's refusals mean in our own terms: the one table for the whole adapter.

No text of python-telegram-bot's InvalidToken is ever passed on: it may hold the token.
"""

import datetime as dt

import httpx
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
)

from bot.errors import (
    AdapterError,
    LoginRefused,
    PlatformUnreachable,
    PollingConflict,
    SendDeferred,
    SendError,
    SendRefused,
    SendUnknown,
)

TRY_AGAIN_S = 2.0
"""Wait before a send that surely did not happen is tried again."""
TOKEN_REFUSED_S = 60.0

_NEVER_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.UnsupportedProtocol,
    httpx.ProxyError,
)
_LOGIN_REFUSED = (
    "Telegram does not accept the token: copy it again from @BotFather "
    "(a revoked token never works again)"
)


def adapter_error(error: TelegramError) -> AdapterError:
    """What a failed login or poll means for the adapter as a whole."""
    match error:
        case InvalidToken() if _is_telegrams_own(error):
            return LoginRefused(_LOGIN_REFUSED)
        case Conflict():
            return PollingConflict(
                "another process reads this bot's updates, or a webhook is set: "
                "run one process for each token"
            )
        case RetryAfter():
            return PlatformUnreachable(f"Telegram asks to wait {retry_after_s(error):.0f} s")
        case InvalidToken():
            return PlatformUnreachable("something between here and Telegram answers in its place")
        case _:
            return PlatformUnreachable(f"Telegram could not be reached: {reason(error)}")


def send_error(error: TelegramError) -> SendError:
    """What a failed send means for the message.

    A 5xx is an answer: Telegram says that it did not do it. Only a connection that ended between
    the request and the answer leaves the question open.
    """
    match error:
        case RetryAfter():
            return SendDeferred(retry_after_s=retry_after_s(error))
        case InvalidToken():
            return SendDeferred(retry_after_s=TOKEN_REFUSED_S)
        case Forbidden() | BadRequest() | ChatMigrated() if _is_telegrams_own(error):
            return SendRefused(f"Telegram refused the message: {reason(error)}")
        case NetworkError() | Forbidden() if not _left_open(error):
            return SendDeferred(retry_after_s=TRY_AGAIN_S)
        case _:
            return SendUnknown(f"no answer after sending: {reason(error)}")


def _is_telegrams_own(error: TelegramError) -> bool:
    """Whether Telegram itself said so: a proxy or a captive portal answers in HTML, not in JSON."""
    return not isinstance(error.__cause__, TelegramError)


def _left_open(error: TelegramError) -> bool:
    """Whether the request may have been carried out although no answer came."""
    cause = error.__cause__
    if cause is None or isinstance(cause, TelegramError):
        return False  # an HTTP status came back, with or without a readable body
    return not isinstance(cause, _NEVER_SENT)


def reason(error: TelegramError) -> str:
    """Why, in words that hold neither a token nor a message: Telegram's for a 400 or 403."""
    if isinstance(error, BadRequest | Forbidden) and _is_telegrams_own(error):
        return error.message[:200]
    return type(error.__cause__ or error).__name__


def says(error: TelegramError, words: str) -> bool:
    """Whether Telegram's description holds these words, whatever their case."""
    return words.casefold() in error.message.casefold()


def retry_after_s(error: RetryAfter) -> float:
    """How long Telegram asks to wait; the library is between two types for it."""
    value = error.retry_after
    return value.total_seconds() if isinstance(value, dt.timedelta) else float(value)
