import configparser
import shutil
import subprocess
from pathlib import Path

import pytest

from bot.cli.boundary import ExitCode
from bot.config.settings import LimitsSettings
from bot.jobs import afterwards
from bot.service import service
from bot.service.doctor import END_MARGIN_S, stop_timeout_s

UNIT = Path(__file__).parents[2] / "systemd" / "kith.service"


def unit_section():
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str
    parser.read_string(UNIT.read_text())
    return parser["Service"]


def test_a_stop_is_given_more_time_than_all_its_steps_need():
    given_s = stop_timeout_s(UNIT.read_text())

    assert given_s > LimitsSettings().drain_s + END_MARGIN_S
    assert END_MARGIN_S >= service.FLUSH_S + afterwards.FINISH_S


def test_what_a_restart_cannot_mend_is_not_started_again():
    assert int(unit_section()["RestartPreventExitStatus"]) == ExitCode.CONFIG
    assert unit_section()["Restart"] == "on-failure"


def test_it_is_ready_when_it_says_so_and_holds_no_rights_it_does_not_use():
    found = unit_section()

    assert found["Type"] == "notify"
    assert found["DynamicUser"] == "yes"
    assert found["NoNewPrivileges"] == "yes"
    assert found["ProtectSystem"] == "strict"
    assert "LoadCredential=telegram-token:" in UNIT.read_text()
    assert "LoadCredential=discord-token:" in UNIT.read_text()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_itself_finds_nothing_wrong(tmp_path):
    program = tmp_path / "kith"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    unit = tmp_path / "kith.service"
    unit.write_text(UNIT.read_text().replace("/usr/local/bin/kith", str(program)))

    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip

    assert (done.returncode, done.stdout + done.stderr) == (0, "")
