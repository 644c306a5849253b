"""The whole configuration's type: the service's own settings, and a table for each manifest."""

from dataclasses import field, fields, make_dataclass
from functools import cache
from typing import Any, get_type_hints

from bot.config.settings import Config, PlatformSettings
from bot.manifests import Manifests, OwnSettings


@cache
def config_type(manifests: Manifests) -> type[Config]:
    """`Config` with a table for each platform that can be connected to, and for each server.

    A platform's table holds what every platform has beside the settings of its own; a server's
    holds its own alone.
    """
    tables: dict[str, type] = {
        **{name: _platform(one.settings) for name, one in manifests.connectors.items()},
        **{scheme: one.settings for scheme, one in manifests.servers.items()},
    }
    if taken := tables.keys() & {one.name for one in fields(Config)}:
        raise ValueError(f"a manifest has the name of a table of ours: {sorted(taken)}")
    added = [(name, table, field(default_factory=table)) for name, table in tables.items()]
    return _made("Config", added, Config)


def _platform(own: type[OwnSettings]) -> type:
    hints = get_type_hints(own, include_extras=True)
    added = [(one.name, hints[one.name], field(default=one.default)) for one in fields(own)]
    return _made(own.__name__, added, PlatformSettings)


def _made(name: str, added: list[tuple[str, Any, Any]], base: type) -> type[Any]:
    return make_dataclass(name, added, bases=(base,), frozen=True, slots=True, kw_only=True)
