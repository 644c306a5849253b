from types import SimpleNamespace

import pytest

from bot.service.status_board import StatusBoard
from bot.service.supervisor import Standings
from bot.service.troubles import RecentTroubles
from memory.ports import Models
from memory.recall.search import Backlog
from tests.fakes import FakeChatModel, FakeClock


class Counted:
    """Stands in for the parts of which only a number is asked."""

    open_lanes = 0

    def __init__(self, backlog):
        self._backlog = backlog

    async def counts(self):
        return SimpleNamespace(inbox_open=0, outbox_open=0, perhaps_delivered=0, quarantined=0)

    async def backlog(self):
        return self._backlog


def board(backlog, *, embedder=True):
    clock, parts, model = FakeClock(), Counted(backlog), FakeChatModel([])
    embed = SimpleNamespace(name="ollama:bge") if embedder else None
    return StatusBoard(
        models=Models(chat=model, summary=model, extract=model, embed=embed),
        search=parts,
        delivery=parts,
        router=parts,
        standings=Standings((), clock),
        troubles=RecentTroubles(clock),
        clock=clock,
    )


@pytest.mark.parametrize(
    ("waiting", "failure", "told"),
    [
        (0, None, "words and meaning"),
        (7, None, "words and meaning (7 messages wait for vectors)"),
        (7, "ModelUnreachable", "by words only for now (7 messages wait for vectors)"),
    ],
)
async def test_it_says_how_the_past_is_searched_now(waiting, failure, told):
    status = await board(Backlog(waiting=waiting, keyword_only=failure)).status()

    assert status.search == told


async def test_without_an_embedding_model_search_is_by_words_and_nothing_is_said_to_wait():
    backlog = Backlog(waiting=7, keyword_only="no embedding model")

    assert (await board(backlog, embedder=False).status()).search == "words"
