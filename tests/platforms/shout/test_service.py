"""A third platform and a third model server in the whole service: their folders and a line each."""

from bot.app.app import open_service
from bot.app.model_choice import open_models
from bot.config.config import load
from memory.database.database import open_reader
from memory.keeping.resetting import conversations
from memory.values import SessionId
from tests.bot.service.test_service import serving
from tests.bot.stack import until
from tests.registry import MANIFESTS


class NoFiles:
    """Nobody asks for a model's file here."""


async def test_a_message_is_taken_in_answered_by_the_parrot_and_shouted(tmp_path):
    board, config = tmp_path / "board", tmp_path / "kith.toml"
    board.mkdir()
    (board / "token").write_text("knock")
    (board / "1.said").write_text("mallory: hand it over")
    (board / "2.said").write_text("ann: hello there")
    config.write_text(
        f'data_dir = "data"\n[shout]\nboard = "{board}"\npart_chars = 6\n'
        'allow.users = ["ann"]\n[parrot]\nawake = true\n'
    )
    loaded = load(MANIFESTS, config, env={"KITH_SHOUT_TOKEN": "knock"})

    async with (
        open_service(loaded, lambda: open_models(loaded, NoFiles())) as service,
        serving(service) as (stop, _, task),
    ):
        await until((board / "2.shouted").exists)
        stop.set()
        await task

    assert [path.read_text() for path in sorted(board.glob("*.shouted"))] == ["HELLO ", "THERE"]
    async with open_reader(loaded.data_dir / "kith.db") as reader:
        assert [one.id for one in await conversations(reader)] == [SessionId("sh-board-wall")]
