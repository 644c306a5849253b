from datetime import date

from memory.recall.query_parts import take_apart

TODAY = date(2026, 11, 30)


def test_the_named_speaker_is_taken_out_and_remembered():
    question = take_apart("When did Caroline's sister paint?", ["Caroline", "Mel"], TODAY)

    assert question.names == {"Caroline"}
    assert question.bare == "When did sister paint?"
    assert "carolin" not in question.words


def test_a_first_name_is_enough_and_a_part_of_a_word_is_not():
    assert take_apart("what did momo say", ["Momo Chen"], TODAY).names == {"Momo Chen"}
    assert take_apart("a momochrome photo", ["Momo"], TODAY).names == set()
    assert take_apart("al dente", ["Al"], TODAY).names == set()


def test_chinese_names_need_no_spaces_around_them():
    question = take_apart("小美最喜歡喝什麼", ["小美", "阿明"], TODAY)

    assert question.names == {"小美"}
    assert question.bare == "最喜歡喝什麼"


def test_the_longest_name_that_fits_is_the_one_that_is_meant():
    question = take_apart("what did Ann Lee paint", ["Ann", "Ann Lee"], TODAY)

    assert question.names == {"Ann Lee"}
    assert question.bare == "what did paint"


def test_a_question_that_is_only_a_name_keeps_it():
    assert take_apart("Caroline", ["Caroline"], TODAY).bare == "Caroline"


def test_dates_are_read():
    assert [named.day for named in take_apart("在5月6號", [], TODAY).dates] == [6]
