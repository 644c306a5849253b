import pytest

from adapters.discord.options import DISCORD
from adapters.registry import MANIFESTS
from adapters.telegram.manifest import TelegramSettings
from adapters.telegram.options import TELEGRAM
from bot.app.platforms import access_settings, platform_tokens, tokens_needed
from bot.config.config import load
from bot.errors import NoAdapterLeft
from bot.manifests import AdapterParts
from bot.ports import Secret


def configured(tmp_path, text="", **env):
    path = tmp_path / "kith.toml"
    path.write_text(text)
    return load(MANIFESTS, path, env=env)


def test_a_platform_is_used_when_it_has_a_token(tmp_path):
    loaded = configured(tmp_path, KITH_TELEGRAM_TOKEN="1:a")

    assert set(platform_tokens(loaded)) == {TELEGRAM}


def test_one_that_is_switched_off_stays_away_although_it_has_one(tmp_path):
    loaded = configured(
        tmp_path, "[telegram]\nenabled = false\n", KITH_TELEGRAM_TOKEN="1:a", KITH_DISCORD_TOKEN="b"
    )

    assert set(platform_tokens(loaded)) == {DISCORD}


def test_without_any_token_the_next_step_is_named(tmp_path):
    with pytest.raises(NoAdapterLeft, match="KITH_TELEGRAM_TOKEN"):
        tokens_needed(configured(tmp_path))


def test_a_bare_id_of_an_administrator_is_one_of_that_platform(tmp_path):
    text = "[telegram]\nadmins = [7, 'discord:8']\n[discord]\nadmins = ['9']\n"

    found = access_settings(configured(tmp_path, text))

    assert found[TELEGRAM].admins == ("telegram:7", "discord:8")
    assert found[DISCORD].admins == ("discord:9",)


@pytest.mark.parametrize("url", ["http://localhost:8081", "http://localhost:8081/"])
async def test_a_bot_api_server_of_ones_own_is_used(url):
    settings = TelegramSettings(api_url=url)
    parts = AdapterParts(intake=None, commands=None, specs=(), clock=None)

    async with MANIFESTS.connectors[TELEGRAM].open(settings, Secret("1:a"), parts) as adapter:
        assert adapter._options.base_url == "http://localhost:8081/bot"
