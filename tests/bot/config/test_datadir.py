import subprocess
import sys

import pytest

from bot.config.datadir import owned
from bot.errors import DataDirLocked, DataDirUnusable


def test_it_is_made_private(tmp_path):
    with owned(tmp_path / "a" / "b") as directory:
        assert directory.stat().st_mode & 0o777 == 0o700


def test_a_second_owner_is_refused_and_told_who_the_first_is(tmp_path):
    script = "import sys; from bot.config.datadir import owned\nwith owned(__import__('pathlib').Path(sys.argv[1])):\n print(flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", script, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as first:
        first.stdout.readline()
        with pytest.raises(DataDirLocked, match=str(first.pid)):
            with owned(tmp_path):
                pass
        first.kill()
        first.wait()

    with owned(tmp_path):
        pass


def test_a_place_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").touch()

    with pytest.raises(DataDirUnusable, match="--data-dir"):
        with owned(tmp_path / "file" / "data"):
            pass
