"""Builds the three modes over the parts that they share."""

from datetime import tzinfo

from memory.database.database import Database
from memory.modes.choice import ModeChoice
from memory.modes.full import FullMode
from memory.modes.pools import PoolsMode
from memory.modes.window import WindowMode
from memory.pools.deconstruct_pass import Deconstructor
from memory.pools.slot import PoolSlot
from memory.ports import Models
from memory.recall.recall import Recall
from memory.recall.slot import RecallSlot
from memory.settings import MemorySettings
from memory.summary.service import SummaryService
from memory.values import Mode


def all_modes(
    *,
    database: Database,
    models: Models,
    settings: MemorySettings,
    zone: tzinfo | None,
    summaries: SummaryService,
    recall: Recall,
) -> ModeChoice:
    """Every mode, ready for use."""
    slot = PoolSlot(database=database, embedder=models.embed, settings=settings.pools, zone=zone)
    deconstructor = Deconstructor(database=database, model=models.extract)
    window = WindowMode(
        database=database, summaries=summaries, window_messages=settings.window_messages
    )
    full = FullMode(
        database=database,
        window=window,
        slot=slot,
        deconstructor=deconstructor,
        recalling=RecallSlot(
            recall=recall, chat=models.chat, most_tokens=settings.recall_tokens, zone=zone
        ),
    )
    pools = PoolsMode(
        database=database,
        slot=slot,
        deconstructor=deconstructor,
        recent_turns=settings.pools.recent_turns,
    )
    return ModeChoice({Mode.FULL: full, Mode.WINDOW: window, Mode.POOLS: pools})
