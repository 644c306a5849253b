"""Two hundred turns in pools mode over each platform's wire: what was not noted stands nowhere."""

import json
import re
import sqlite3
from contextlib import closing

import pytest

from tests.e2e.harness import kith, open_world, until
from tests.e2e.test_talk import answers
from tests.wire.telegram_values import private

PEOPLE, MOST = 10, 20
KNOWN = re.compile(r"known\d+x")
"""Words that become part of a fact."""
HIDDEN = re.compile(r"hidden\d+x")
"""Words that never do."""


def _noted(body):
    """What the extractor finds in a turn: its known word."""
    asked = body["messages"][-1]["content"]
    if " wrote:\n" not in asked:
        known = KNOWN.findall(asked)
        return json.dumps({"facts": [f"Somebody likes {' and '.join(known[:3])}."]})
    [known, *_] = KNOWN.findall(asked.partition(" wrote:\n")[2])
    return json.dumps({"facts": [{"fact": f"Somebody likes {known} a lot."}]})


def _said(person, number):
    word = person * MOST + number
    return f"I tell you of known{word}x and of hidden{word}x"


def _found(directory, pattern):
    """Words that stand in any file under a directory, in the encodings that text is stored in."""
    found = set()
    for path in directory.rglob("*"):
        if path.is_file():
            raw = path.read_bytes()
            for encoding in ("latin-1", "utf-16-le", "utf-16-be"):
                found |= set(pattern.findall(raw.decode(encoding, "ignore")))
    return found


def _count(world, sql):
    with closing(sqlite3.connect(f"{(world.data / 'kith.db').as_uri()}?mode=ro", uri=True)) as door:
        [[count]] = door.execute(sql)
    return count


# The second shows that the search sees; it needs no two hundred turns for that.
@pytest.mark.parametrize(("mode", "clean", "messages"), [("pools", True, MOST), ("full", False, 5)])
async def test_what_was_not_noted_stands_in_no_file_and_in_no_log(tmp_path, mode, clean, messages):
    async with open_world(tmp_path) as world:
        world.mode, world.echo.noted = mode, _noted
        people, users = world.people(PEOPLE)
        async with kith(world, "run", "--verbose") as process:
            await process.logged("service.ready")
            for number in range(messages):
                for index, person in enumerate(people):
                    world.telegram.say(private(person), person, _said(index, number))
                for index, user in enumerate(users):
                    world.discord.dm(user, _said(PEOPLE + index, number))

            def all_there():
                return all(len(texts) >= messages for texts in answers(world, people, users))

            await until(all_there, timeout_s=90)
            told = answers(world, people, users)
            assert (not _found(tmp_path, HIDDEN)) is clean
            await until(
                lambda: _count(world, "SELECT count(*) FROM pool_entries") >= 2 * PEOPLE,
                timeout_s=60,
            )
            process.terminate()
            assert await process.ended(timeout_s=60) == 0

        assert len(HIDDEN.findall(str(told))) == 2 * PEOPLE * messages
        assert not HIDDEN.findall(process.log)
        assert (not _found(tmp_path, HIDDEN)) is clean
        assert _found(world.data, KNOWN)
        stored = 0 if clean else 4 * PEOPLE * messages
        assert _count(world, "SELECT count(*) FROM messages") == stored
