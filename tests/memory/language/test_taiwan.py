import pytest

from memory.language.taiwan import has_simplified, is_japanese, to_taiwan


@pytest.mark.parametrize(
    ("simplified", "wanted"),
    [
        ("数据库软件里的内存", "資料庫軟體裡的記憶體"),
        ("她对花生过敏，周五去台北", "她對花生過敏，週五去臺北"),
        ("Alice 用 Python 写网络程序", "Alice 用 Python 寫網路程式"),
    ],
)
def test_simplified_chinese_becomes_taiwan_traditional(simplified, wanted):
    assert to_taiwan(simplified) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "開発計画を国会に提出する",
        "カレーが好きで、東京に住んでいる",
        "依程序辦理，質量守恆，台灣的皇后",
        "plain English, naïve café",
        "",
        "😀",
    ],
)
def test_what_is_not_simplified_chinese_stays_as_it_is(text):
    assert to_taiwan(text) == text


def test_a_chinese_sentence_with_a_japanese_name_in_it_is_chinese():
    assert not is_japanese("她最喜欢的店叫のり屋，在中山站旁边，每个周末都去那里吃饭")
    assert is_japanese("東京の店が好き")


def test_a_character_that_both_scripts_use_is_no_sign_of_simplified():
    assert not has_simplified("皇后在里面干台")
    assert has_simplified("软")
