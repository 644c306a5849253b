"""Which platforms are used, and how each one's adapter is made from the configuration."""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace

from adapters.discord.adapter import open_discord
from adapters.discord.options import DiscordOptions
from adapters.telegram.adapter import open_telegram
from adapters.telegram.options import TelegramOptions
from bot.commands.registry import Commands
from bot.config.access_settings import AccessSettings
from bot.config.config import Config, Loaded
from bot.errors import NoAdapterLeft
from bot.ports import ChatAdapter, Intake, Platform, Secret
from memory.ports import Clock

NO_PLATFORM = (
    "there is no bot token. Put one into $KITH_TELEGRAM_TOKEN or $KITH_DISCORD_TOKEN, into a file"
    " named by $KITH_TELEGRAM_TOKEN_FILE or $KITH_DISCORD_TOKEN_FILE, or into the systemd"
    " credential telegram-token or discord-token. To talk without a platform: kith chat"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterOptions:
    """What an adapter is made from."""

    platform: Platform
    token: Secret
    config: Config


def access_settings(config: Config) -> dict[Platform, AccessSettings]:
    """Who may speak on each platform; a bare id of an administrator is one of that platform."""
    tables: dict[Platform, AccessSettings] = {
        Platform.TELEGRAM: config.telegram,
        Platform.DISCORD: config.discord,
    }
    return {
        platform: replace(
            table,
            admins=tuple(one if ":" in one else f"{platform}:{one}" for one in table.admins),
        )
        for platform, table in tables.items()
    }


def platform_tokens(loaded: Loaded) -> dict[Platform, Secret]:
    """The tokens of the platforms that are to be used.

    Raises:
        ConfigError: a file is named that cannot be read.
    """
    enabled = {
        Platform.TELEGRAM: loaded.config.telegram.enabled,
        Platform.DISCORD: loaded.config.discord.enabled,
    }
    found = {one: loaded.secret(f"{one}-token") for one, wanted in enabled.items() if wanted}
    return {platform: token for platform, token in found.items() if token is not None}


def open_adapter(
    options: AdapterOptions, *, intake: Intake, commands: Commands, clock: Clock
) -> AbstractAsyncContextManager[ChatAdapter]:
    """A platform's adapter, not yet connected."""
    if options.platform is Platform.TELEGRAM:
        return open_telegram(
            telegram_options(options.config, options.token), intake=intake, commands=commands.specs
        )
    return open_discord(
        discord_options(options.config, options.token),
        intake=intake,
        door=commands,
        specs=commands.specs,
        clock=clock,
    )


def telegram_options(config: Config, token: Secret) -> TelegramOptions:
    """The adapter's options as the configuration has them."""
    settings = config.telegram
    return TelegramOptions(
        token=token,
        base_url=f"{settings.api_url.rstrip('/')}/bot",
        poll_timeout_s=settings.poll_s,
    )


def discord_options(config: Config, token: Secret) -> DiscordOptions:
    """The adapter's options as the configuration has them."""
    settings = config.discord
    return DiscordOptions(
        token=token,
        catch_up_age_s=settings.catch_up_s,
        api_url=settings.api_url or None,
        gateway_url=settings.gateway_url or None,
    )


def tokens_needed(loaded: Loaded) -> dict[Platform, Secret]:
    """As `platform_tokens`, with at least one.

    Raises:
        NoAdapterLeft: there is none.
        ConfigError: a file is named that cannot be read.
    """
    tokens = platform_tokens(loaded)
    if not tokens:
        raise NoAdapterLeft([NO_PLATFORM])
    return tokens
