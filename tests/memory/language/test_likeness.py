import pytest

from memory.language.likeness import changes, same, touches

CHANGED = [
    ("Anna lives in Taipei.", "Anna lives in Tainan."),
    ("Anna lives in Taipei.", "Anna moved to Tainan."),
    ("Anna's cat is called Momo.", "Anna's cat is now called Mochi."),
    ("Anna works at Google.", "Anna works at TSMC now."),
    ("Anna's favourite colour is blue.", "Anna's favourite colour is green now."),
    ("Anna likes tea.", "Anna no longer likes tea."),
    ("Anna's flight leaves on Friday at 9.", "Anna's flight now leaves on Friday at 11."),
    ("Anna is 30 years old.", "Anna is 31 years old."),
    ("Anna drinks coffee every day.", "Anna drinks tea every day now."),
    ("小明住在台北", "小明搬到台南了"),
    ("小明住在台北。", "小明現在住台南。"),
    ("小明的貓叫麻糬", "小明的貓改名叫豆花"),
    ("小明在台積電工作", "小明到聯發科上班"),
    ("小明最喜歡的顏色是藍色", "小明最喜歡的顏色是綠色"),
    ("小明喜歡喝咖啡", "小明不再喝咖啡"),
    ("小明的航班星期五早上9點", "小明的航班改到星期五11點"),
    ("小明30歲", "小明31歲了"),
    ("小明的密碼是1234", "小明的密碼改成5678"),
]
SIDE_BY_SIDE = [
    ("Anna likes tea.", "Anna likes coffee."),
    ("Anna's cat is called Momo.", "Anna's dog is called Rex."),
    ("Anna's favourite colour is blue.", "Anna's favourite food is ramen."),
    ("Anna has a meeting with Bob on Monday.", "Anna has a meeting with Carol on Tuesday."),
    ("Anna plans to visit Japan in May.", "Anna bought a camera."),
    ("Anna has a brother.", "Anna has a sister."),
    ("Anna is allergic to nuts.", "Anna is allergic to shrimp."),
    ("Anna's brother lives in Kaohsiung.", "Anna lives in Taipei."),
    ("小明喜歡喝茶", "小明喜歡咖啡"),
    ("小明的貓叫麻糬", "小明的狗叫旺財"),
    ("小明最喜歡的顏色是藍色", "小明最喜歡的食物是拉麵"),
    ("小明五月要去日本", "小明買了一台相機"),
    ("小明對花生過敏", "小明對蝦子過敏"),
    ("小明的弟弟住高雄", "小明住台北"),
]


def _name(fact):
    return "Anna" if fact.startswith("Anna") else "小明"


@pytest.mark.parametrize(("old", "new"), CHANGED)
def test_a_new_value_of_the_same_thing_takes_the_old_ones_place(old, new):
    assert changes(new, old, name=_name(old))


@pytest.mark.parametrize(("old", "new"), SIDE_BY_SIDE)
def test_facts_about_different_things_stand_side_by_side(old, new):
    assert not changes(new, old, name=_name(old))
    assert not changes(old, new, name=_name(old))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Anna lives in Taipei.", "anna lives in Taipei"),
        ("小明搬到台南", "小明搬到了台南。"),
        ("小明喜歡喝綠茶", "小明很喜歡喝綠茶"),
    ],
)
def test_the_same_in_other_words_is_the_same(one, other):
    assert same(one, other)
    assert same(other, one)
    assert not changes(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Anna lives in Taipei.", "Anna lives in Tainan."),
        ("Anna likes black tea.", "Anna likes tea."),
        ("小明喜歡喝綠茶", "小明不喜歡喝綠茶"),
        ("Anna's meeting is at 9:30.", "Anna's meeting is at 10:30."),
    ],
)
def test_another_value_a_negation_or_a_detail_is_not_the_same(one, other):
    assert not same(one, other)


def test_a_character_that_is_also_a_particle_stays_in_names():
    assert not same("小明搬到京都住", "小明搬到京城住")


def test_a_single_character_can_be_what_two_texts_share():
    assert touches("小明在學鋼琴", "我不學那個了", besides="小明")
    assert not touches("小明在學鋼琴", "今天天氣好", besides="小明")
