"""How much of the window a token budget can show."""

from collections.abc import Sequence

COARSE_STEP = 0.7
"""A window that must be cut is cut to this share of its budget, so that the next turns only append
and the model's prefix cache holds. Cutting one message a turn re-reads the whole window each time:
seconds on a CPU."""

WORTH_KEEPING = 0.5
"""A start that leaves less than this share of the budget in use is given up: a single long message
must not shorten the window for good."""


def first_shown(costs: Sequence[int], *, budget: int, kept: int) -> int:
    """Index of the oldest message to show; `len(costs)` shows none.

    Args:
        costs: tokens of each message, oldest first.
        budget: tokens that the window may take.
        kept: index that the last turn started from, 0 when there was none or it has left.
    """
    tail = sum(costs[kept:])
    if tail <= budget and (kept == 0 or tail >= budget * WORTH_KEEPING):
        return kept
    if sum(costs) <= budget:
        return 0
    coarse = _shortest_cut(costs, int(budget * COARSE_STEP))
    return coarse if coarse < len(costs) else _shortest_cut(costs, budget)


def _shortest_cut(costs: Sequence[int], budget: int) -> int:
    """The first index from which everything fits."""
    used = 0
    for index in range(len(costs) - 1, -1, -1):
        used += costs[index]
        if used > budget:
            return index + 1
    return 0
