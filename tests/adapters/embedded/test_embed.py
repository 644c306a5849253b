import numpy as np
import pytest

from adapters.calls import CallScheduler
from adapters.embedded import embed as embedding
from adapters.embedded.embed import EmbeddedEmbedder, open_embedder
from adapters.embedded.errors import ExtraMissing
from memory.errors import ModelAnswerInvalid
from memory.ports import Priority


class ScriptedModel:
    def __init__(self, answer=None):
        self.answer = answer
        self.batches = []

    def query(self, texts):
        self.batches.append(texts)
        if self.answer is not None:
            return self.answer
        return np.full((len(texts), 384), 3.0, np.float32)


async def test_both_sides_are_queries_without_nul_or_lone_surrogates():
    model = ScriptedModel()
    await EmbeddedEmbedder(model=model, calls=CallScheduler().of("m")).embed(["a\x00b", "貓\ud83d"])

    assert model.batches == [["ab", "貓\ufffd"]]


@pytest.mark.parametrize("priority", Priority)
async def test_many_texts_go_in_batches_so_that_people_get_in_between(priority):
    model = ScriptedModel()
    rows = await EmbeddedEmbedder(model=model, calls=CallScheduler().of("m")).embed(
        ["x"] * 40, priority=priority
    )

    assert [len(batch) for batch in model.batches] == [16, 16, 8]
    assert rows.shape == (40, 384)


async def test_long_texts_are_cut_and_go_alone_so_that_people_get_in_between():
    model = ScriptedModel()
    texts = ["字" * 4000, "short", "line " * 200, "word " * 200]
    rows = await EmbeddedEmbedder(model=model, calls=CallScheduler().of("m")).embed(texts)

    assert [[len(text) for text in batch] for batch in model.batches] == [[1500], [5, 1000], [1000]]
    assert rows.shape == (4, 384)


@pytest.mark.parametrize(
    "answer", [np.zeros((1, 384)), np.full((1, 384), np.nan), np.ones((1, 3)), np.ones((2, 384))]
)
async def test_what_is_no_vector_is_refused(answer):
    with pytest.raises(ModelAnswerInvalid):
        await EmbeddedEmbedder(model=ScriptedModel(answer), calls=CallScheduler().of("m")).embed(
            ["x"]
        )


async def test_missing_library_is_told_with_the_command_that_installs_it(monkeypatch):
    def refuse(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(embedding.importlib, "import_module", refuse)
    with pytest.raises(ExtraMissing, match=r"pip install 'kithbot\[embedded\]'"):
        await open_embedder(CallScheduler().of("m")).__aenter__()


async def test_right_answer_is_nearer_than_a_wrong_one_across_languages():
    async with open_embedder(CallScheduler().of("m")) as embedder:
        question, right, wrong = await embedder.embed(
            ["我的貓叫什麼名字？", "My cat is called Momo.", "The harbour was closed on Monday."]
        )

    assert question @ right > question @ wrong


async def test_text_over_the_library_window_still_gets_one_unit_row():
    async with open_embedder(CallScheduler().of("m")) as embedder:
        [row] = await embedder.embed(["麻糬住在台北。" * 120])

    assert np.linalg.norm(row) == pytest.approx(1.0, abs=1e-5)
