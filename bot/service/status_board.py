"""Collects how the running service does, for whoever asks: a person, the control socket."""

import os
from importlib.metadata import PackageNotFoundError, version

from bot.delivery.delivery import Delivery
from bot.delivery.router import Router
from bot.service.service_status import ServiceStatus
from bot.service.supervisor import Standings
from bot.service.troubles import RecentTroubles
from memory.ports import Clock, Models
from memory.recall.search import Search


class StatusBoard:
    """Reads from every part; changes nothing."""

    def __init__(
        self,
        *,
        models: Models,
        search: Search,
        delivery: Delivery,
        router: Router,
        standings: Standings,
        troubles: RecentTroubles,
        clock: Clock,
    ) -> None:
        self._models = models
        self._search = search
        self._delivery = delivery
        self._router = router
        self._standings = standings
        self._troubles = troubles
        self._started_at_ns = clock.now_ns()

    async def status(self) -> ServiceStatus:
        """How things stand now.

        Raises:
            StoreError: the database could not be read.
        """
        counts = await self._delivery.counts()
        vectors = await self._search.backlog()
        embed = self._models.embed
        return ServiceStatus(
            version=_version(),
            pid=os.getpid(),
            started_at_ns=self._started_at_ns,
            adapters=self._standings.all,
            lanes=self._router.open_lanes,
            inbox_open=counts.inbox_open,
            outbox_open=counts.outbox_open,
            perhaps_delivered=counts.perhaps_delivered,
            quarantined=counts.quarantined,
            chat_model=self._models.chat.name,
            embed_model=embed.name if embed else None,
            waiting_vectors=vectors.waiting,
            keyword_only=vectors.keyword_only,
            troubles=self._troubles.newest_first(),
        )


def _version() -> str:
    try:
        return version("kithbot")
    except PackageNotFoundError:
        return "not installed"
