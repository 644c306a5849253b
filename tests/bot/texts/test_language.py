import pytest

from bot.texts.language import Language, language_of


@pytest.mark.parametrize(
    ("text", "client", "language"),
    [
        ("你好", "en", Language.CHINESE),
        ("hello", "zh-TW", Language.ENGLISH),
        ("", "zh-TW", Language.CHINESE),
        ("/", "ZH-hant", Language.CHINESE),
        ("", "de", Language.ENGLISH),
        ("", None, Language.ENGLISH),
    ],
)
def test_the_text_decides_and_without_one_the_persons_client(text, client, language):
    assert language_of(text, client) is language
