"""Every manifest that is shipped, and those that only tests have: a line each."""

from adapters.registry import MANIFESTS as SHIPPED
from bot.manifests import Manifests
from tests.platforms.shout.manifest import MANIFEST as SHOUT
from tests.servers.parrot.manifest import MANIFEST as PARROT

MANIFESTS = Manifests(
    platforms=(*SHIPPED.platforms.values(), SHOUT),
    servers=(PARROT, *SHIPPED.servers.values()),
)
