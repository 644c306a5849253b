from dataclasses import fields, is_dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import get_type_hints

import pytest

from adapters.registry import MANIFESTS
from bot.config.config import load, parse, search_order
from bot.config.tables import config_type
from bot.errors import ConfigError
from bot.manifests import Manifests
from bot.ports import Secret


def problems(text):
    with pytest.raises(ConfigError) as caught:
        parse(text, "kith.toml", MANIFESTS)
    return {problem.key: problem.what for problem in caught.value.problems}


def test_without_any_file_everything_has_its_default(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    found = load(MANIFESTS, env={})

    assert found.source is None
    assert found.config == config_type(MANIFESTS)()


def test_every_problem_is_reported_at_once_by_its_dotted_key():
    found = problems(
        'data_dirr = "x"\ntimezone = "Mars/Olympus"\n[ollama]\nnum_ctx = "8k"\nkeepalive = "5m"\n'
        '[memory]\nwindow_messages = 1.5\n[log]\nlevel = "loud"\n'
    )

    assert set(found) == {
        "data_dirr", "timezone", "ollama.num_ctx", "ollama.keepalive",
        "memory.window_messages", "log.level",
    }  # fmt: skip
    assert "did you mean data_dir?" in found["data_dirr"]
    assert "did you mean keep_alive?" in found["ollama.keepalive"]
    assert "Asia/Taipei" in found["timezone"]


def test_a_bound_that_is_broken_is_reported_by_its_key():
    assert set(problems("[memory]\nwindow_messages = 0\n[ollama]\nidle_s = -1\n")) == {
        "memory.window_messages", "ollama.idle_s",
    }  # fmt: skip


@pytest.mark.parametrize("text", ["[models", "a = ", "x = 1\nx = 2", "\x00"])
def test_broken_toml_is_one_clear_problem(text):
    assert "not valid TOML" in problems(text)[""]


def test_a_value_is_never_repeated_as_it_may_be_a_secret():
    with pytest.raises(ConfigError) as caught:
        parse('[ollama]\nnum_ctx = "hunter2"\ntoken = "hunter2"\n', "kith.toml", MANIFESTS)

    assert "hunter2" not in str(caught.value)
    assert "hunter2" not in repr(caught.value)


def test_the_first_file_of_the_search_order_is_the_only_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    named = tmp_path / "named.toml"
    named.write_text('[log]\nlevel = "debug"\n', encoding="utf-8")
    (tmp_path / "kith.toml").write_text('[log]\nlevel = "error"\n', encoding="utf-8")

    assert load(MANIFESTS, env={}).config.log.level == "error"
    assert load(MANIFESTS, env={"KITH_CONFIG": str(named)}).config.log.level == "debug"
    assert load(MANIFESTS, named, env={}).config.log.level == "debug"
    assert search_order({"KITH_CONFIG": "x"})[0] == Path("x")


def test_a_file_that_is_named_must_exist(tmp_path):
    with pytest.raises(ConfigError, match="No such file"):
        load(MANIFESTS, tmp_path / "nowhere.toml", env={})


def test_a_place_that_cannot_be_looked_at_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", "/" + "x" * 300)  # longer than any name may be

    assert load(MANIFESTS, env={}).source is None


def test_a_date_is_no_text():
    with pytest.raises(ConfigError) as caught:
        parse("timezone = 1979-05-27\n[models]\nchat = 07:32:00\n", "kith.toml", MANIFESTS)

    assert [problem.key for problem in caught.value.problems] == ["timezone", "models.chat"]


def test_a_relative_path_counts_from_its_file(tmp_path):
    path = tmp_path / "kith.toml"
    path.write_text('data_dir = "memory"\n', encoding="utf-8")

    assert load(MANIFESTS, path, env={}).data_dir == tmp_path / "memory"


def test_the_example_shows_every_setting_with_its_default():
    text = (files("bot.config") / "config.example.toml").read_text(encoding="utf-8")
    live = "\n".join(
        line.removeprefix("# ") if " = " in line and line.startswith("# ") else line
        for line in text.splitlines()
        if line.startswith("[") or " = " in line
    )

    assert parse(live, "example", MANIFESTS) == config_type(MANIFESTS)()
    assert parse(text, "example", MANIFESTS) == config_type(MANIFESTS)()
    for name in leaves(config_type(MANIFESTS)):
        assert f"# {name} = " in text, name


def leaves(kind):
    """Names of all settings that have a default which TOML can write, deep down."""
    for one in fields(kind):
        hint = get_type_hints(kind)[one.name]
        if is_dataclass(hint):
            yield from leaves(hint)
        elif one.default is not None and one.name != "modes":
            yield one.name


def test_an_id_may_be_written_as_a_number_and_is_text():
    found = parse(
        "[telegram]\nallow.users = [123, '456']\n[discord.deny]\nroles = [9]\n", "x", MANIFESTS
    )

    assert found.telegram.allow.users == ("123", "456")
    assert found.discord.deny.roles == ("9",)


def test_the_memory_of_a_place_is_read_by_its_id():
    found = parse('[telegram.modes]\n"-100" = "pools"\n', "x", MANIFESTS)

    assert found.telegram.modes == {"-100": "pools"}


def test_what_is_no_id_and_no_setting_of_a_platform_is_reported_by_its_key():
    found = problems(
        "[telegram]\nallow.users = [1.5]\nmode = 'total'\n[discord]\nallow.user = [1]\n"
        "deny = []\n[limits]\ndrain_s = -1\n"
    )

    assert set(found) == {
        "telegram.allow.users.0", "telegram.mode", "discord.allow.user", "discord.deny",
        "limits.drain_s",
    }  # fmt: skip
    assert "did you mean users?" in found["discord.allow.user"]


@pytest.mark.parametrize("platform", ["telegram", "discord"])
@pytest.mark.parametrize("key", ["token", "bot_token"])
def test_a_token_in_the_file_is_told_where_it_belongs(platform, key):
    found = problems(f'[{platform}]\n{key} = "12:abc"\n')

    assert f"KITH_{platform.upper()}_TOKEN" in found[f"{platform}.{key}"]
    assert "12:abc" not in str(found)


def test_a_manifest_with_the_name_of_a_table_of_ours_is_refused():
    clash = replace(MANIFESTS.platforms["telegram"], name="memory", prefix="me")

    with pytest.raises(ValueError, match="memory"):
        config_type(Manifests(platforms=[clash], servers=[]))


class TestSecrets:
    def test_the_environment_comes_first(self, tmp_path):
        (tmp_path / "ollama-token").write_text("from credential", encoding="utf-8")
        env = {"CREDENTIALS_DIRECTORY": str(tmp_path), "KITH_OLLAMA_TOKEN": "from env"}

        assert self.loaded(tmp_path, env).secret("ollama-token") == Secret("from env")

    def test_a_file_that_the_environment_names_comes_next(self, tmp_path):
        (tmp_path / "token").write_text("from file\n", encoding="utf-8")

        found = self.loaded(tmp_path, {"KITH_OLLAMA_TOKEN_FILE": str(tmp_path / "token")})

        assert found.secret("ollama-token") == Secret("from file")

    def test_a_systemd_credential_comes_last(self, tmp_path):
        (tmp_path / "ollama-token").write_text("from credential", encoding="utf-8")

        found = self.loaded(tmp_path, {"CREDENTIALS_DIRECTORY": str(tmp_path)})

        assert found.secret("ollama-token") == Secret("from credential")

    def test_none_at_all_is_none(self, tmp_path):
        assert self.loaded(tmp_path, {}).secret("ollama-token") is None

    def test_a_named_file_that_is_missing_or_empty_is_an_error(self, tmp_path):
        (tmp_path / "empty").touch()
        for name in ("empty", "missing"):
            env = {"KITH_OLLAMA_TOKEN_FILE": str(tmp_path / name)}
            with pytest.raises(ConfigError):
                self.loaded(tmp_path, env).secret("ollama-token")

    def test_it_shows_in_no_repr(self, tmp_path):
        found = self.loaded(tmp_path, {"KITH_OLLAMA_TOKEN": "hunter2"})

        assert "hunter2" not in repr(found) + repr(found.secret("ollama-token"))

    @staticmethod
    def loaded(tmp_path, env):
        path = tmp_path / "kith.toml"
        path.touch()
        return load(MANIFESTS, path, env=env)
