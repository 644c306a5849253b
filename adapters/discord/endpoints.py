"""Where Discord is: its own addresses, or those that the options name."""

from collections.abc import Iterator
from contextlib import contextmanager

import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from adapters.discord.options import DiscordOptions


@contextmanager
def endpoints(options: DiscordOptions) -> Iterator[None]:
    """Point the library there for as long as the context is open: it knows one place at a time."""
    base, gateway = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
    if options.api_url is not None:
        Route.BASE = options.api_url
        DiscordWebSocket.DEFAULT_GATEWAY = _gateway(options.api_url, options.gateway_url)
    try:
        yield
    finally:
        Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = base, gateway


def _gateway(api_url: str, gateway_url: str | None) -> yarl.URL:
    if gateway_url is not None:
        return yarl.URL(gateway_url)
    api = yarl.URL(api_url)
    return api.with_scheme("wss" if api.scheme == "https" else "ws").with_path("/gateway")
