"""Discord, as the service knows it. Nothing of its library is imported before it is asked for."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Interval

from adapters.discord.options import DISCORD, DiscordOptions
from bot.manifests import (
    AdapterParts,
    Connector,
    Finding,
    Level,
    OwnSettings,
    PlatformManifest,
)
from bot.ports import ChatAdapter, Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordSettings(OwnSettings):
    """The table `[discord]`, beside what every platform has: used when there is a token."""

    catch_up_s: Annotated[int, Interval(ge=0, le=7 * 86_400)] = 86_400
    """After downtime, messages older than this are not even read back. A day: what is younger and
    still too old to be answered is counted in a notice."""
    api_url: str = ""
    """Empty: Discord's own."""
    gateway_url: str = ""
    """Empty: the gateway that belongs to `api_url`."""


@asynccontextmanager
async def _open(
    settings: DiscordSettings, token: Secret, parts: AdapterParts
) -> AsyncIterator[ChatAdapter]:
    from adapters.discord.adapter import open_discord

    opening = open_discord(
        _options(settings, token),
        intake=parts.intake,
        commands=parts.commands,
        specs=parts.specs,
        clock=parts.clock,
    )
    async with opening as adapter:
        yield adapter


async def _check(settings: DiscordSettings, token: Secret) -> list[Finding]:
    from adapters.discord.check import check

    facts = await check(_options(settings, token))
    what, invite = f"the token is that of {facts.name}", f"invite it with: {facts.invite_url}"
    findings = [Finding(check=DISCORD, level=Level.OK, what=what, fix=invite)]
    if not facts.reads_messages:
        findings.append(
            Finding(
                check=DISCORD,
                level=Level.FAILED,
                what="the bot may not read messages: Message Content Intent is off",
                fix="https://discord.com/developers/applications, your bot, Bot > Privileged"
                " Gateway Intents > Message Content Intent",
            )
        )
    return findings


def _options(settings: DiscordSettings, token: Secret) -> DiscordOptions:
    return DiscordOptions(
        token=token,
        catch_up_age_s=settings.catch_up_s,
        api_url=settings.api_url or None,
        gateway_url=settings.gateway_url or None,
    )


MANIFEST = PlatformManifest(
    name=DISCORD,
    prefix="dc",
    bare_id=r"\d{6,}",
    direct_by_person=True,
    # Discord drops a nonce that it saw a moment ago (API docs, "Create Message",
    # `enforce_nonce`), and a part keeps its nonce.
    most_sends=5,
    loggers=("discord",),
    connector=Connector(settings=DiscordSettings, open=_open, check=_check),
)
