"""Which platforms are used, and what each one's adapter is opened with."""

from collections.abc import Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace

from bot.config.access_settings import AccessSettings
from bot.config.config import Loaded, variable_of
from bot.errors import NoAdapterLeft
from bot.manifests import AdapterParts, Manifests
from bot.ports import ChatAdapter, Platform, Secret


def no_platform(manifests: Manifests) -> str:
    """What to do where there is no token for any platform."""
    names = [f"{name}-token" for name in manifests.connectors]
    variables = [variable_of(name) for name in names]
    return (
        f"there is no bot token. Put one into {_either(f'${one}' for one in variables)}, into a"
        f" file named by {_either(f'${one}_FILE' for one in variables)}, or into the systemd"
        f" credential {_either(names)}. To talk without a platform: kith chat"
    )


def _either(names: Iterable[str]) -> str:
    return " or ".join(names)


def access_settings(loaded: Loaded) -> dict[Platform, AccessSettings]:
    """Who may speak on each platform; a bare id of an administrator is one of that platform."""
    tables = {name: loaded.config.platform(name) for name in loaded.manifests.connectors}
    return {
        name: replace(
            table, admins=tuple(one if ":" in one else f"{name}:{one}" for one in table.admins)
        )
        for name, table in tables.items()
    }


def platform_tokens(loaded: Loaded) -> dict[Platform, Secret]:
    """The tokens of the platforms that are to be used.

    Raises:
        ConfigError: a file is named that cannot be read.
    """
    enabled = [one for one in loaded.manifests.connectors if loaded.config.platform(one).enabled]
    found = {name: loaded.secret(f"{name}-token") for name in enabled}
    return {name: token for name, token in found.items() if token is not None}


def tokens_needed(loaded: Loaded) -> dict[Platform, Secret]:
    """As `platform_tokens`, with at least one.

    Raises:
        NoAdapterLeft: there is none.
        ConfigError: a file is named that cannot be read.
    """
    tokens = platform_tokens(loaded)
    if not tokens:
        raise NoAdapterLeft([no_platform(loaded.manifests)])
    return tokens


def open_adapters(
    loaded: Loaded, tokens: Mapping[Platform, Secret], parts: AdapterParts
) -> dict[Platform, AbstractAsyncContextManager[ChatAdapter]]:
    """The adapters of these platforms, none of them connected yet."""
    connectors = loaded.manifests.connectors
    return {
        name: connectors[name].open(loaded.config.platform(name), token, parts)
        for name, token in tokens.items()
    }
