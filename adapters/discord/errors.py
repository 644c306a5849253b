"""Discord's errors in our own terms, in two tables: logging in, sending a message.

Error codes: Discord developer docs, "Opcodes and Status Codes".
"""

import aiohttp
import discord

from bot.errors import (
    AdapterError,
    LoginRefused,
    PlatformUnreachable,
    SendDeferred,
    SendError,
    SendRefused,
    SendUnknown,
)

NETWORK = (aiohttp.ClientError, OSError, TimeoutError)
"""What breaks on the way."""

FOREIGN = (
    discord.DiscordException,
    *NETWORK,
    # discord.py reads events without checking them: a malformed one surfaces as one of these.
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
)
"""Everything that the library is known to raise while it runs."""

_AUTHENTICATION_FAILED = 4004
_INTENTS_CLOSES = (4013, 4014)
_UNAUTHORIZED, _TOO_MANY, _SERVER = 401, 429, 500
_CONNECT_AGAIN_S = 5.0
_CLOUDFLARE_WAIT_S = 60.0

_NOT_ACCEPTED = (
    "Discord does not accept the bot token. Open https://discord.com/developers/applications, "
    "choose the bot, Bot > Reset Token, and store the new token where Kith reads it"
)
_NOT_ALLOWED = (
    "Discord does not let the bot read messages. Open "
    "https://discord.com/developers/applications, choose the bot, Bot > Privileged Gateway "
    "Intents, switch on Message Content Intent, and save"
)


def login_fault(error: Exception) -> AdapterError:
    """Why the connection ended, and what to do where trying again does not help."""
    match error:
        case discord.LoginFailure():
            return LoginRefused(_NOT_ACCEPTED)
        case discord.PrivilegedIntentsRequired():
            return LoginRefused(_NOT_ALLOWED)
        case discord.ConnectionClosed():
            return _closed(error.code)
        case discord.HTTPException(status=status):
            refused = status == _UNAUTHORIZED
            return LoginRefused(_NOT_ACCEPTED) if refused else PlatformUnreachable(_spoken(error))
        case discord.DiscordException() | aiohttp.ClientError() | OSError():
            return PlatformUnreachable(f"Discord cannot be reached ({type(error).__name__})")
    return AdapterError(f"an event of Discord could not be read ({type(error).__name__})")


def _closed(code: int | None) -> AdapterError:
    if code == _AUTHENTICATION_FAILED:
        return LoginRefused(_NOT_ACCEPTED)
    if code in _INTENTS_CLOSES:
        return LoginRefused(_NOT_ALLOWED)
    return PlatformUnreachable(f"Discord closed the connection with code {code}")


def send_fault(error: Exception) -> SendError:
    """Whether a message was refused, has to wait, or may have arrived."""
    match error:
        case discord.RateLimited():
            return SendDeferred(retry_after_s=error.retry_after)
        case discord.HTTPException():
            return _http_fault(error)
        case aiohttp.ClientConnectorError():
            # No connection, so nothing was sent.
            return SendDeferred(retry_after_s=_CONNECT_AGAIN_S)
    return SendUnknown(f"Discord did not answer ({type(error).__name__})")


def _http_fault(error: discord.HTTPException) -> SendError:
    if error.status == _TOO_MANY:
        # Without Discord's own proxy header this is Cloudflare's ban: it names no time.
        return SendDeferred(retry_after_s=_retry_after_s(error))
    if error.status == _UNAUTHORIZED:
        return SendDeferred(retry_after_s=_CLOUDFLARE_WAIT_S)
    if error.status >= _SERVER:
        return SendUnknown(_spoken(error))
    return SendRefused(_spoken(error))


def _retry_after_s(error: discord.HTTPException) -> float:
    headers = getattr(error.response, "headers", {})
    try:
        return max(float(headers.get("Retry-After", _CLOUDFLARE_WAIT_S)), 1.0)
    except ValueError:
        return _CLOUDFLARE_WAIT_S


def _spoken(error: discord.HTTPException) -> str:
    """Status and code only: Discord's own text can quote what was sent."""
    return f"Discord answered {error.status} (code {error.code})"
