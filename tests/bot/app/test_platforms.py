import pytest

from bot.app.platforms import access_settings, platform_tokens, telegram_options, tokens_needed
from bot.config.config import load
from bot.errors import NoAdapterLeft
from bot.ports import Platform, Secret


def configured(tmp_path, text="", **env):
    path = tmp_path / "kith.toml"
    path.write_text(text)
    return load(path, env=env)


def test_a_platform_is_used_when_it_has_a_token(tmp_path):
    loaded = configured(tmp_path, KITH_TELEGRAM_TOKEN="1:a")

    assert set(platform_tokens(loaded)) == {Platform.TELEGRAM}


def test_one_that_is_switched_off_stays_away_although_it_has_one(tmp_path):
    loaded = configured(
        tmp_path, "[telegram]\nenabled = false\n", KITH_TELEGRAM_TOKEN="1:a", KITH_DISCORD_TOKEN="b"
    )

    assert set(platform_tokens(loaded)) == {Platform.DISCORD}


def test_without_any_token_the_next_step_is_named(tmp_path):
    with pytest.raises(NoAdapterLeft, match="KITH_TELEGRAM_TOKEN"):
        tokens_needed(configured(tmp_path))


def test_a_bare_id_of_an_administrator_is_one_of_that_platform(tmp_path):
    text = "[telegram]\nadmins = [7, 'discord:8']\n[discord]\nadmins = ['9']\n"

    found = access_settings(configured(tmp_path, text).config)

    assert found[Platform.TELEGRAM].admins == ("telegram:7", "discord:8")
    assert found[Platform.DISCORD].admins == ("discord:9",)


@pytest.mark.parametrize("url", ["http://localhost:8081", "http://localhost:8081/"])
def test_a_bot_api_server_of_ones_own_is_used(tmp_path, url):
    config = configured(tmp_path, f'[telegram]\napi_url = "{url}"\n').config

    assert telegram_options(config, Secret("1:a")).base_url == "http://localhost:8081/bot"
