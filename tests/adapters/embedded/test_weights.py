import re

import pytest

from adapters.embedded.errors import WeightsAbsent, WeightsUnknown
from adapters.embedded.store import Store
from adapters.embedded.weights import DEFAULT, FALLBACK, KNOWN, find
from memory.errors import ModelMissing
from tests.adapters.embedded.files import CONTENT, weights


@pytest.mark.parametrize("model", KNOWN, ids=lambda w: w.name)
def test_parts_add_up_to_the_file(model):
    assert sum(part.size_bytes for part in model.parts) == model.size_bytes
    assert all(part.size_bytes > 0 for part in model.parts)


@pytest.mark.parametrize("model", KNOWN, ids=lambda w: w.name)
def test_every_pin_is_exact(model):
    assert re.fullmatch(r"[0-9a-f]{64}", model.sha256)
    assert all(re.fullmatch(r"\d+(\.\d+)+", part.version) for part in model.parts)
    assert len({part.package for part in model.parts}) == len(model.parts)
    assert model.hub_url.startswith("https://huggingface.co/")
    assert "/resolve/" in model.hub_url


def test_names_and_files_are_unique():
    assert len({model.name for model in KNOWN}) == len(KNOWN)
    assert len({model.file for model in KNOWN}) == len(KNOWN)


def test_default_and_fallback_are_known():
    assert find(DEFAULT) is KNOWN[0]
    assert find(FALLBACK).size_bytes < find(DEFAULT).size_bytes


def test_default_speaks_chinese_and_english():
    assert {"zh", "en"} <= set(find(DEFAULT).languages)


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(WeightsUnknown, match="default, small, tiny"):
        find("huge")


def test_listing_tells_what_is_here_and_what_was_begun(tmp_path):
    store = Store(models_dir=tmp_path)
    tiny, small = find("tiny"), find("small")
    with store.path(tiny).open("wb") as stream:
        stream.truncate(tiny.size_bytes)
    store.partial_path(small).write_bytes(b"begun")

    held = {entry.weights.name: entry for entry in store.listing()}

    assert [entry.weights for entry in store.listing()] == list(KNOWN)
    assert held["tiny"].present
    assert held["tiny"].path == store.path(tiny)
    assert not held["small"].present
    assert held["small"].partial_bytes == 5
    assert held["default"].partial_bytes == 0


def test_file_of_the_wrong_size_is_not_here(tmp_path):
    store = Store(models_dir=tmp_path)
    store.path(weights()).write_bytes(CONTENT[:-1])

    assert not store.has(weights())


def test_absent_file_is_told_with_the_next_step(tmp_path):
    with pytest.raises(WeightsAbsent, match="kith model get tiny") as caught:
        Store(models_dir=tmp_path).need(find("tiny"))

    assert isinstance(caught.value, ModelMissing)


def test_remove_takes_file_and_rest_and_says_how_much(tmp_path):
    store = Store(models_dir=tmp_path)
    store.path(weights()).write_bytes(b"12345")
    store.partial_path(weights()).write_bytes(b"123")
    store.wheels_dir(weights()).mkdir()

    assert store.remove(weights()) == 8
    assert store.remove(weights()) == 0
    assert [p.name for p in tmp_path.iterdir()] == [".lock"]


def test_remove_from_a_directory_that_never_was_frees_nothing(tmp_path):
    assert Store(models_dir=tmp_path / "never").remove(weights()) == 0
