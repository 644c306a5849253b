import asyncio
import resource
import signal
import sys

import pytest

from memory.archive import messages_table
from memory.database.database import open_database
from memory.values import NO_SEQ, SessionId
from tests.cli.process import HANGS_S, NOBODY_LISTENS, Kith
from tests.fakes import Breaks
from tests.wire.ollama_server import Fault, ScriptedBackend, Trouble, serve_ollama


@pytest.fixture
async def ollama():
    async with serve_ollama(ScriptedBackend()) as server:
        yield server


@pytest.fixture
def kith(tmp_path, ollama):
    made = Kith(home=tmp_path, extra={})
    made.configure(f'[ollama]\nurl = "{ollama.url}"\n[models]\nembed = "none"\n')
    return made


async def kept(kith, session="cli-main"):
    async with open_database(kith.data / "kith.db") as database, database.reading() as reader:
        found = await messages_table.latest(reader, SessionId(session), from_seq=NO_SEQ, limit=1000)
        return [message.text for message in found]


def asked(ollama):
    """What the model saw as the last message of each call, without its metadata line."""
    return [
        body["messages"][-1]["content"].split("\n", 1)[1] for body in ollama.bodies("/api/chat")
    ]


async def test_a_pipe_gets_one_line_of_answer_for_each_line_of_input(kith, ollama):
    ollama.backend.replies += ["Hello!\nHow are you?", "你的貓叫麻糬。"]

    done = await kith.chat("hi\n\n我的貓叫什麼？")

    assert done.code == 0
    assert done.lines == ["Hello! How are you?", "", "你的貓叫麻糬。"]
    assert done.err == ""
    assert asked(ollama) == ["hi", "我的貓叫什麼？"]


async def test_a_second_process_still_knows(kith, ollama):
    ollama.backend.replies += ["Nice.", "Momo."]

    await kith.chat("My cat is called Momo.\n")
    done = await kith.chat("What is my cat called?\n")

    assert done.lines == ["Momo."]
    seen = [m["content"] for m in ollama.bodies("/api/chat")[1]["messages"]]
    assert any("My cat is called Momo." in text for text in seen)


async def test_sessions_do_not_see_each_other(kith, ollama):
    ollama.backend.replies += ["a", "b"]

    await kith.chat("My cat is called Momo.\n", "--session", "one")
    await kith.chat("What is my cat called?\n", "--session", "two")

    seen = [m["content"] for m in ollama.bodies("/api/chat")[1]["messages"]]
    assert not any("Momo" in text for text in seen)


async def test_input_from_a_file_works_like_a_pipe(kith, ollama):
    ollama.backend.replies += ["one", "two"]
    (kith.home / "lines.txt").write_text("a\nb\n", encoding="utf-8")

    with (kith.home / "lines.txt").open("rb") as stdin:
        done = await kith.run("chat", "--data-dir", kith.data, typed=None, stdin=stdin)

    assert done.lines == ["one", "two"]


@pytest.mark.parametrize("closing", ["</dev/null", "<&-"])
async def test_without_any_input_it_ends_at_once(kith, closing):
    shell = await asyncio.create_subprocess_exec(
        *("sh", "-c", f'"$@" {closing}', "sh", sys.executable, "-m", "bot", "chat"),
        *("--data-dir", kith.data),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=kith.home,
        env=kith.env,
    )
    try:
        async with asyncio.timeout(HANGS_S):
            out, err = await shell.communicate()
    finally:
        if shell.returncode is None:
            shell.kill()

    assert (shell.returncode, out, err) == (0, b"", b"")


async def test_commands_are_answered_without_the_model(kith, ollama):
    done = await kith.chat("/help\n/nonsense\n")

    assert done.code == 0
    assert "/help" in done.lines[0]
    assert "/nonsense" in done.lines[1]
    assert ollama.bodies("/api/chat") == []


async def test_bytes_that_are_no_text_are_replaced_and_answered(kith, ollama):
    ollama.backend.replies += ["fine"]

    done = await kith.chat(b"\xff\xed\xa0\x80 hi \x00\xf0\x9f\x98\x80\n")

    assert done.lines == ["fine"]
    assert asked(ollama)[0].endswith(" hi \U0001f600")


async def test_a_line_of_a_megabyte_is_told_its_size_and_the_talk_goes_on(kith, ollama):
    ollama.backend.replies += ["still here"]

    done = await kith.chat("x" * 1_000_000 + "\nhi\n")

    assert done.code == 1
    assert "too long" in done.lines[0]
    assert done.lines[1] == "still here"
    assert await kept(kith) == ["hi", "still here"]


async def test_a_model_killed_in_mid_reply_is_said_and_nothing_of_it_is_kept(kith, ollama):
    ollama.backend.replies += [Breaks(text="half of a", error=ConnectionError()), "back again"]

    done = await kith.chat("one\ntwo\n")

    assert done.code == 1
    assert "cannot reach my model" in done.lines[0]
    assert done.lines[1] == "back again"
    assert await kept(kith) == ["two", "back again"]


async def test_a_model_that_is_not_installed_is_said_with_the_next_step(kith):
    done = await kith.chat("hi\n", "--model", "ollama:nowhere")

    assert done.code == 1
    assert "kith doctor" in done.out


async def test_no_model_at_all_says_how_to_get_one(kith):
    kith.configure(f'[ollama]\nurl = "{NOBODY_LISTENS}"\n[models]\nembed = "none"\n')

    done = await kith.chat("hi\n")

    assert done.code == 1
    assert done.out == ""
    assert "kith model get" in done.err
    assert "Traceback" not in done.err


@pytest.mark.model
async def test_the_tiny_model_serves_with_a_warning_where_the_default_cannot_be_had(
    kith, tiny_path
):
    kith.configure(
        f'[ollama]\nurl = "{NOBODY_LISTENS}"\n[models]\nembed = "none"\n'
        f'[embedded]\nmodels_dir = "{kith.home}/models"\n'
    )
    (kith.home / "models").mkdir()
    (kith.home / "models" / tiny_path.name).symlink_to(tiny_path)

    done = await kith.chat("Say hello.\n")

    assert done.code == 0
    assert len(done.lines) == 1
    assert "fetching the model" in done.err
    assert "warning: using SmolLM2" in done.err


async def test_broken_toml_is_a_configuration_error(kith):
    kith.configure("[models\n")

    done = await kith.chat("hi\n")

    assert done.code == 78
    assert "not valid TOML" in done.err
    assert "kith.toml" in done.err


async def test_wrong_types_are_all_reported_and_nothing_is_made(kith):
    kith.configure('[ollama]\nnum_ctx = "8k"\n[memory]\nwindow_messages = "x"\n')

    done = await kith.run("chat", typed="hi\n")

    assert done.code == 78
    assert "ollama.num_ctx" in done.err
    assert "memory.window_messages" in done.err
    assert not (kith.home / ".local").exists()


async def test_a_model_name_that_is_none_is_a_configuration_error(kith):
    done = await kith.chat("hi\n", "--model", "gpt-9")

    assert done.code == 78
    assert "models.chat" in done.err


async def test_an_option_that_is_none_is_a_usage_error(kith):
    assert (await kith.chat("", "--nonsense")).code == 2


async def test_a_second_process_on_one_data_directory_is_refused(kith, ollama):
    ollama.backend.replies += ["first"]
    first = await kith.start("chat", "--data-dir", kith.data)
    first.stdin.write(b"hi\n")
    await first.stdout.readline()

    second = await kith.chat("hi\n")
    first.stdin.close()

    assert second.code == 1
    assert str(first.pid) in second.err
    assert "--data-dir" in second.err
    assert await first.wait() == 0


async def test_an_interrupt_ends_it_and_keeps_nothing_of_the_turn(kith, ollama):
    ollama.backend.replies += ["kept", "never"]
    process = await kith.start("chat", "--data-dir", kith.data)
    process.stdin.write(b"one\n")
    await process.stdout.readline()
    ollama.faults.append(Fault(trouble=Trouble.SILENCE, after=1))
    process.stdin.write(b"two\n")
    async with asyncio.timeout(HANGS_S):
        while len(ollama.bodies("/api/chat")) < 2:
            await asyncio.sleep(0.01)

    process.send_signal(signal.SIGINT)
    async with asyncio.timeout(HANGS_S):
        _, err = await process.communicate()

    assert process.returncode == 130
    assert b"Traceback" not in err
    assert await kept(kith) == ["one", "kept"]


async def test_a_full_disk_is_said_and_what_was_kept_before_stays(kith, ollama):
    ollama.backend.replies += ["kept", "lost"]
    await kith.chat("one\n")

    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (36_000, 36_000))

    done = await kith.chat("two " * 5_000 + "\n", preexec_fn=small_files)

    assert done.code == 1
    assert "could not store" in done.out
    assert "free some space" in done.out
    assert await kept(kith) == ["one", "kept"]


async def test_a_reader_that_leaves_ends_it_quietly(kith, ollama):
    ollama.backend.replies += ["one", "two", "three"]
    process = await kith.start("chat", "--data-dir", kith.data)
    process.stdin.write(b"a\n")
    await process.stdout.readline()
    process._transport.get_pipe_transport(1).close()
    process.stdin.write(b"b\nc\n")
    process.stdin.close()

    assert b"Traceback" not in await process.stderr.read()
    await process.wait()


async def test_no_word_of_the_talk_is_in_its_log(kith, ollama):
    ollama.backend.replies += ["zanzibar answers"]

    done = await kith.chat("zanzibar asks\n", "--verbose")

    assert "turn.ended" in done.err
    assert "zanzibar" not in done.err
