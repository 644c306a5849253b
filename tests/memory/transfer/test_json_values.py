import json

import pytest

from memory.transfer import json_values
from memory.transfer.interface import Problems
from memory.transfer.json_values import values


@pytest.fixture
def read(tmp_path):
    def reading(content):
        path = tmp_path / "file.json"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        problems = Problems()
        found = list(values(path, problems))
        return found, [(one.line, one.what) for one in problems.listed]

    return reading


def test_an_array_is_read_value_by_value_with_the_line_of_each(read):
    found, problems = read('[{"a": 1},\n\n  {"b":\n 2},\n3]\n')

    assert found == [(1, {"a": 1}), (3, {"b": 2}), (5, 3)]
    assert problems == []


def test_json_lines_are_read_line_by_line_past_blank_ones(read):
    assert read('\ufeff{"a": 1}\n\n{"b": 2}\r\n3') == (
        [(1, {"a": 1}), (3, {"b": 2}), (4, 3)],
        [],
    )


@pytest.mark.parametrize("content", ["", "\n \n", "[]", " [ ]\n"])
def test_a_file_without_a_value_holds_none_and_is_no_problem(read, content):
    assert read(content) == ([], [])


def test_every_broken_line_is_named_and_the_others_are_read(read):
    found, problems = read('1\n{"a"\n2\nNaN\n3 4\n5')

    assert [value for _, value in found] == [1, 2, 5]
    assert [line for line, _ in problems] == [2, 4, 5]


def test_an_array_is_named_at_the_line_where_it_breaks(read):
    found, problems = read('[1,\n2,\n{"a": }\n,3]')

    assert [value for _, value in found] == [1, 2]
    [(line, what)] = problems
    assert line == 3
    assert "the rest was not read" in what


@pytest.mark.parametrize("content", ["[1, 2", "[1 2]", "[1,]", "[1] 2", "[", '["a'])
def test_an_array_that_does_not_end_as_one_is_a_problem(read, content):
    assert len(read(content)[1]) == 1


def test_a_value_that_crosses_the_borders_of_what_is_read_at_a_time_is_whole(read, monkeypatch):
    monkeypatch.setattr(json_values, "_CHUNK_CHARS", 7)
    wanted = [{"text": "綠茶😀" * 50, "n": n} for n in range(20)] + [123456789]

    found, problems = read(json.dumps(wanted, ensure_ascii=False, indent=1))

    assert [value for _, value in found] == wanted
    assert problems == []


def test_a_line_past_64_kib_is_read_and_one_past_the_limit_is_named(read, monkeypatch):
    monkeypatch.setattr(json_values, "LONGEST_VALUE_CHARS", 200_000)
    long = json.dumps("茶" * 100_000, ensure_ascii=False)

    found, problems = read(f"{long}\n{'9' * 500_000}\n1")

    assert [value for _, value in found] == ["茶" * 100_000, 1]
    assert problems == [(2, "the line is too long")]


def test_text_that_is_not_utf8_is_named_with_its_line(read):
    found, problems = read('"好"\n'.encode() + '"好"\n'.encode("big5") + b'"ok"')

    assert [value for _, value in found] == ["好", "ok"]
    assert problems == [(2, "is not UTF-8 text")]


def test_a_nest_too_deep_and_a_number_too_long_are_problems_and_no_crash(read):
    found, problems = read("[" * 100_000 + "\n" + "9" * 5_000)

    assert found == []
    assert len(problems) == 1
    assert len(read('{"a":' * 50_000 + "\n" + "9" * 5_000 + "\n1")[1]) == 2


def test_a_file_that_cannot_be_opened_is_a_problem(tmp_path):
    problems = Problems()

    assert list(values(tmp_path / "none.json", problems)) == []
    assert problems.count == 1
