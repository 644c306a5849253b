"""What an operator wants to know about a bot's account before it runs, asked without the gateway."""

from dataclasses import dataclass

import discord

from adapters.discord.client import Client
from adapters.discord.endpoints import endpoints
from adapters.discord.errors import FOREIGN, login_fault
from adapters.discord.options import DiscordOptions

_PERMISSIONS = discord.Permissions(
    view_channel=True,
    send_messages=True,
    send_messages_in_threads=True,
    read_message_history=True,
)
"""All that the bot uses; reading history is for what it missed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordFacts:
    """What Discord says about the bot."""

    id: str
    name: str
    reads_messages: bool
    """Whether the Message Content Intent is switched on."""
    invite_url: str
    """Adds the bot to a server, with the scopes and rights that it needs."""


async def check(options: DiscordOptions) -> DiscordFacts:
    """Log in and look.

    Raises:
        LoginRefused: the token is not accepted; the text says what to do.
        AdapterError: Discord cannot be reached.
    """
    with endpoints(options):
        client = Client(options, lambda: None)
        try:
            await client.login(options.token.reveal())
            return _facts(client)
        except FOREIGN as exc:
            raise login_fault(exc) from exc
        finally:
            await client.close()


def _facts(client: Client) -> DiscordFacts:
    application, user = client.application, client.user
    if application is None or user is None:
        raise LookupError("login told nothing")
    flags = application.flags
    return DiscordFacts(
        id=str(user.id),
        name=user.display_name,
        reads_messages=flags.gateway_message_content or flags.gateway_message_content_limited,
        invite_url=discord.utils.oauth_url(
            application.id, permissions=_PERMISSIONS, scopes=("bot", "applications.commands")
        ),
    )
