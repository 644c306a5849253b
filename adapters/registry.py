"""Which chat platforms and model servers there are: a line each.

A manifest imports nothing of its library, so that naming one costs nothing.
"""

from adapters.console.manifest import MANIFEST as CONSOLE
from adapters.discord.manifest import MANIFEST as DISCORD
from adapters.embedded.manifest import MANIFEST as EMBEDDED
from adapters.ollama.manifest import MANIFEST as OLLAMA
from adapters.telegram.manifest import MANIFEST as TELEGRAM
from bot.manifests import Manifests

MANIFESTS = Manifests(platforms=(CONSOLE, TELEGRAM, DISCORD), servers=(OLLAMA, EMBEDDED))
"""In the order in which `auto` asks the servers."""
