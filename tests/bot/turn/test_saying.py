import pytest

from adapters.registry import MANIFESTS
from bot.turn.saying import names_in, repeats

SAID = (
    "[2026-11-30 18:15 Momo]\nMy bank card ends in 4711 and I hate Mondays",
    "[2026-11-30 18:16 小華]\n我下個月要去東京出差三天",
)


@pytest.mark.parametrize(
    "text",
    [
        "search for bank card ends in 4711 failed",
        "查詢下個月要去東京失敗",
        "the question of Momo was refused",
        "小華的查詢失敗",
        "telegram:456 asked too often",
        "chat 123456789 is closed",
        "see https://example.org for help",
        "ask @somebody",
    ],
)
def test_a_quotation_a_name_or_an_id_is_noticed(text):
    assert repeats(text, SAID, names_in(SAID), MANIFESTS.person_ids)


@pytest.mark.parametrize(
    "text",
    [
        "time_range 2w was refused: only 1d, 7d, 1m, 1y, all are accepted",
        "日期格式錯誤，必須是西元年",
        "use the card tool in the next month",
        "",
    ],
)
def test_the_tools_side_is_no_quotation(text):
    assert not repeats(text, SAID, names_in(SAID), MANIFESTS.person_ids)
