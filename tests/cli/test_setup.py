import hashlib
import json

import pytest

from tests.cli.process import Kith


@pytest.fixture
def kith(tmp_path):
    return Kith(home=tmp_path, extra={})


async def test_init_writes_a_configuration_that_works_and_the_persona_files(kith):
    done = await kith.run("init", "--data-dir", kith.data)

    assert done.code == 0
    assert (kith.data / "SOUL.md").read_text(encoding="utf-8").startswith("You are Kith")
    assert (kith.data / "MEMORY.md").exists()
    assert str(kith.data) in (kith.home / ".config/kith/kith.toml").read_text(encoding="utf-8")
    assert (await kith.run("model", "list", "--json")).code == 0


async def test_init_replaces_nothing_unasked(kith):
    await kith.run("init", "--data-dir", kith.data)
    (kith.data / "SOUL.md").write_text("Mine.", encoding="utf-8")

    again = await kith.run("init", "--data-dir", kith.data)
    forced = await kith.run("init", "--data-dir", kith.data, "--force")

    assert again.code == 2
    assert "--force" in again.err
    assert forced.code == 0
    assert (kith.data / "SOUL.md").read_text(encoding="utf-8") == "Mine."


async def test_version_prints_a_version(kith):
    done = await kith.run("version")

    assert done.code == 0
    assert done.out.strip().count(".") == 2


async def test_models_are_listed_for_people_and_for_programs(kith):
    people = await kith.run("model", "list")
    rows = json.loads((await kith.run("model", "list", "--json")).out)

    assert "Apache-2.0" in people.out
    assert [row["name"] for row in rows] == ["default", "small", "tiny"]
    assert not any(row["present"] for row in rows)


async def test_a_model_that_is_not_here_says_how_to_get_it(kith):
    done = await kith.run("model", "path", "tiny")

    assert done.code == 1
    assert "kith model get tiny" in done.err


async def test_an_unknown_model_lists_the_known_ones(kith):
    done = await kith.run("model", "get", "gpt-9")

    assert done.code == 1
    assert "default" in done.err
    assert "tiny" in done.err


async def test_a_file_with_another_checksum_is_refused_and_not_kept(kith):
    wrong = kith.home / "wrong.gguf"
    wrong.write_bytes(b"GGUF" + b"\0" * 98_362_428)

    done = await kith.run("model", "get", "tiny", "--from", wrong)

    assert done.code == 1
    assert "sha256" in done.err.lower() or "checksum" in done.err.lower()
    assert not list((kith.home / ".local/share/kith/models").glob("*.gguf"))
    assert hashlib.sha256(wrong.read_bytes()).hexdigest() in done.err or wrong.exists()


@pytest.mark.model
async def test_a_given_file_is_taken_found_and_removed(kith, tiny_path):
    got = await kith.run("model", "get", "tiny", "--from", tiny_path)
    found = await kith.run("model", "path", "tiny")
    removed = await kith.run("model", "remove", "tiny")

    assert got.code == found.code == removed.code == 0
    assert found.out == got.out
    assert "98 MB freed" in removed.out
    assert tiny_path.exists()
    assert (await kith.run("model", "path", "tiny")).code == 1


async def test_a_fetch_without_a_network_says_what_to_do(kith):
    done = await kith.run("model", "get", "tiny")

    assert done.code == 1
    assert "--from" in done.err
    assert "Traceback" not in done.err
