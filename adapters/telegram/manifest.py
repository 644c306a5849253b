"""Telegram, as the service knows it. Nothing of its library is imported before it is asked for."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Interval

from adapters.telegram.options import TELEGRAM, TelegramOptions
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
class TelegramSettings(OwnSettings):
    """The table `[telegram]`, beside what every platform has: used when there is a token."""

    api_url: str = "https://api.telegram.org"
    """Another one for a Bot API server of one's own."""
    poll_s: Annotated[int, Interval(ge=1, le=50)] = 30
    """How long Telegram holds a request for new messages; it allows no more than 50."""


@asynccontextmanager
async def _open(
    settings: TelegramSettings, token: Secret, parts: AdapterParts
) -> AsyncIterator[ChatAdapter]:
    from adapters.telegram.adapter import open_telegram

    options = _options(settings, token)
    async with open_telegram(options, intake=parts.intake, commands=parts.specs) as adapter:
        yield adapter


async def _check(settings: TelegramSettings, token: Secret) -> list[Finding]:
    from adapters.telegram.check import check

    facts = await check(_options(settings, token))
    what = f"the token is that of @{facts.username}"
    findings = [Finding(check=TELEGRAM, level=Level.OK, what=what)]
    if not facts.reads_all_group_messages:
        findings.append(
            Finding(
                check=TELEGRAM,
                level=Level.WARNING,
                what="privacy mode is on: in groups the bot sees only commands and replies to it",
                fix="for groups: @BotFather, /setprivacy, Disable; then remove the bot from each"
                " group and add it again",
            )
        )
    return findings


def _options(settings: TelegramSettings, token: Secret) -> TelegramOptions:
    return TelegramOptions(
        token=token,
        base_url=f"{settings.api_url.rstrip('/')}/bot",
        poll_timeout_s=settings.poll_s,
    )


MANIFEST = PlatformManifest(
    name=TELEGRAM,
    prefix="tg",
    bare_id=r"\d{6,}",
    # Telegram knows no nonce: the second time is the one after which a person may see a part
    # twice; a third would be pestering.
    most_sends=2,
    loggers=("telegram",),
    connector=Connector(settings=TelegramSettings, open=_open, check=_check),
)
