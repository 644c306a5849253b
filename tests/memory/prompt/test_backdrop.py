import os

import pytest
from structlog.testing import capture_logs

from memory.errors import BackdropUnreadable
from memory.prompt.backdrop import DEFAULT_SOUL, Backdrop


async def test_without_files_there_is_a_default_persona(tmp_path):
    assert DEFAULT_SOUL in await Backdrop(tmp_path, limit_chars=500).system()


async def test_an_edited_file_counts_from_the_next_turn(tmp_path):
    backdrop = Backdrop(tmp_path, limit_chars=500)
    (tmp_path / "SOUL.md").write_text("You are 麻糬.", encoding="utf-8")
    first = await backdrop.system()
    (tmp_path / "SOUL.md").write_text("You are Mochi!", encoding="utf-8")
    os.utime(tmp_path / "SOUL.md", ns=(1, 1))
    second = await backdrop.system()
    (tmp_path / "SOUL.md").unlink()

    assert "麻糬" in first
    assert "Mochi" in second
    assert DEFAULT_SOUL in await backdrop.system()


async def test_background_stands_behind_the_persona(tmp_path):
    (tmp_path / "MEMORY.md").write_text("The server is about cats.", encoding="utf-8")

    system = await Backdrop(tmp_path, limit_chars=500).system()

    assert system.index(DEFAULT_SOUL) < system.index("about cats")


async def test_what_is_past_the_cap_is_left_out_with_a_warning_once(tmp_path):
    (tmp_path / "SOUL.md").write_text("喵" * 600, encoding="utf-8")
    backdrop = Backdrop(tmp_path, limit_chars=500)

    with capture_logs() as logs:
        system = await backdrop.system()
        await backdrop.system()

    assert system.count("喵") == 500
    assert [entry["event"] for entry in logs] == ["backdrop.cut"]
    assert "喵" not in str(logs)


async def test_what_fills_the_cap_exactly_is_read_without_a_warning(tmp_path):
    (tmp_path / "SOUL.md").write_text("喵" * 500, encoding="utf-8")

    with capture_logs() as logs:
        system = await Backdrop(tmp_path, limit_chars=500).system()

    assert (system.count("喵"), logs) == (500, [])


async def test_a_file_that_is_not_text_is_said_by_name(tmp_path):
    (tmp_path / "SOUL.md").write_bytes(b"\xff\xfe\x00broken\xff")

    with capture_logs() as logs, pytest.raises(BackdropUnreadable, match=r"SOUL\.md"):
        await Backdrop(tmp_path, limit_chars=500).system()

    assert [(log["event"], log["file"]) for log in logs] == [("backdrop.refused", "SOUL.md")]


async def test_a_session_may_have_files_of_its_own(tmp_path):
    (tmp_path / "SOUL.md").write_text("Everybody's bot.")
    (tmp_path / "MEMORY.md").write_text("Known to all.")
    own = tmp_path / "sessions" / "tg-1--5"
    own.mkdir(parents=True)
    (own / "SOUL.md").write_text("The club's bot.")
    backdrop = Backdrop(tmp_path, limit_chars=500)

    club, other = await backdrop.system("tg-1--5"), await backdrop.system("tg-1-7")

    assert "The club's bot." in club
    assert "Everybody's" not in club
    assert "Known to all." in club
    assert "Everybody's bot." in other


async def test_a_session_id_leads_nowhere_outside_its_directory(tmp_path):
    (tmp_path / "data" / "sessions").mkdir(parents=True)
    (tmp_path / "SOUL.md").write_text("outside")

    system = await Backdrop(tmp_path / "data", limit_chars=500).system("../..")

    assert "outside" not in system
