import json

import pytest

from tests.cli.process import Kith
from tests.wire.ollama_server import ScriptedBackend, serve_ollama


@pytest.fixture
async def kith(tmp_path):
    async with serve_ollama(ScriptedBackend(["Noted."] * 4)) as server:
        made = Kith(home=tmp_path, extra={})
        made.configure(f'[ollama]\nurl = "{server.url}"\n[models]\nembed = "none"\n')
        await made.chat("我最喜歡喝綠茶。\nI moved to Kyoto in spring.\nhi\n")
        yield made


async def test_what_was_said_is_found_by_a_word_of_two_characters(kith):
    done = await kith.run("memory", "search", "cli-main", "綠茶", "--data-dir", kith.data)

    assert done.code == 0
    assert "我最喜歡喝綠茶。" in done.out


async def test_a_program_gets_the_hits_as_json(kith):
    where = ("--limit", 1, "--data-dir", kith.data)
    arguments = ("memory", "search", "cli-main", "Kyoto", "--json", *where)
    found = json.loads((await kith.run(*arguments)).out)

    texts = [message["text"] for run in found["excerpts"] for message in run if message["hit"]]
    assert texts == ["I moved to Kyoto in spring."]
    assert found["keyword_only"]


async def test_the_same_search_answers_in_the_chat(kith):
    done = await kith.chat("/history Kyoto\n/history zanzibar\n/history\n")

    assert "I moved to Kyoto in spring." in done.lines[0]
    assert "found nothing" in done.lines[1]
    assert "/history green tea" in done.lines[2]


async def test_several_words_are_all_looked_for_and_quoted_ones_just_as_they_stand(kith):
    said = '/history spring Kyoto\n/history "in spring"\n/history "spring in"\n/history 「綠茶」\n'
    done = await kith.chat(said)

    assert "I moved to Kyoto in spring." in done.lines[0]
    assert "I moved to Kyoto in spring." in done.lines[1]
    assert "found nothing" in done.lines[2]
    assert "我最喜歡喝綠茶。" in done.lines[3]


async def test_a_search_where_nothing_is_kept_says_so(kith):
    done = await kith.run("memory", "search", "x", "y", "--data-dir", kith.home / "nowhere")

    assert done.code == 2
    assert "nothing is remembered" in done.err


async def test_a_search_in_a_conversation_that_is_not_there_says_so(kith):
    done = await kith.run("memory", "search", "cli-typo", "Kyoto", "--data-dir", kith.data)

    assert done.code == 2
    assert "there is no conversation 'cli-typo'" in done.err


async def test_an_export_stays_below_the_current_directory_whatever_the_session_is_called(kith):
    await kith.chat("hi\n", "--session", "../../../escape")

    done = await kith.run("export", "cli-../../../escape", "--data-dir", kith.data)

    assert done.code == 0
    [history] = kith.home.glob("cli-*/history.json")
    assert "hi" in history.read_text(encoding="utf-8")
