"""`kith run`: the service, until a signal ends it."""

import asyncio
import signal
import sys

from bot.app.app import open_service
from bot.app.clock import SystemClock
from bot.app.model_choice import open_models
from bot.cli.boundary import err, run
from bot.cli.chat import Model, Verbose
from bot.cli.options import ConfigFile, DataDir
from bot.cli.provision import Provision
from bot.cli.settings import loaded
from bot.config.config import Loaded
from bot.service.logs import configure
from bot.service.service import serve
from bot.service.systemd_notify import Notifier
from bot.service.troubles import RecentTroubles


def serve_platforms(
    *,
    model: Model = "",
    data_dir: DataDir = None,
    config: ConfigFile = None,
    verbose: Verbose = False,
) -> None:
    """Run the bot on every platform that there is a token for, until SIGTERM or Ctrl-C."""

    async def work() -> None:
        settings = loaded(config, data_dir, model=model)
        troubles = RecentTroubles(SystemClock())
        found = (settings.secret(name) for name in settings.manifests.secrets)
        configure(
            level="debug" if verbose else settings.config.log.level,
            stream=sys.stderr,
            secrets=[secret for secret in found if secret is not None],
            quiet=settings.manifests.loggers,
            troubles=troubles,
        )
        await _run(settings, troubles)

    run(work)


async def _run(settings: Loaded, troubles: RecentTroubles) -> None:
    stop = _Stop()
    provision = Provision(err, ask=False)
    opening = open_service(settings, lambda: open_models(settings, provision), troubles=troubles)
    async with opening as service:
        stop.serving = True
        await serve(service, stop=stop.requested, notifier=Notifier(settings.environment))


class _Stop:
    """Turns the first signal into a wish to stop in good order, the second into an end at once."""

    def __init__(self) -> None:
        self.requested = asyncio.Event()
        self.serving = False
        """Before that there is nothing to end in good order."""
        self._task = asyncio.current_task()
        loop = asyncio.get_running_loop()
        for one in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(one, self._signalled)

    def _signalled(self) -> None:
        if self._task is not None and (self.requested.is_set() or not self.serving):
            self._task.cancel()
        self.requested.set()
