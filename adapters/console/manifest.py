"""This machine's own terminal, as the service knows it: no token and nothing to connect to."""

from bot.manifests import PlatformManifest
from bot.ports import CONSOLE

MANIFEST = PlatformManifest(name=CONSOLE, prefix="cli")
