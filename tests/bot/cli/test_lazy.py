import pytest
from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from bot.cli.lazy import LazyCommand
from bot.cli.root import app


def verbs(group, path=()):
    for name, command in group.commands.items():
        if isinstance(command, LazyCommand):
            yield (*path, name), command
            command = command.load()  # noqa: PLW2901 - goes on with what it stands for
        if isinstance(command, TyperGroup):
            yield from verbs(command, (*path, name))


ALL = list(verbs(get_command(app)))


@pytest.mark.parametrize(("path", "verb"), ALL, ids=[" ".join(path) for path, _ in ALL])
def test_the_help_says_of_each_verb_what_its_own_help_says(path, verb):
    assert verb.load().help == verb.help
    assert verb.name == path[-1]


def test_an_unknown_verb_is_refused_with_a_verb_like_it():
    found = CliRunner().invoke(app, ["memory", "sesions"])

    assert found.exit_code == 2
    assert "No such command 'sesions'. Did you mean 'sessions'?" in found.output


def test_a_wrong_option_is_refused_by_the_verb_itself():
    found = CliRunner().invoke(app, ["memory", "list", "cli-main", "--nope"])

    assert found.exit_code == 2
    assert "Usage: kith memory list" in found.output.replace("root", "kith")
    assert "No such option: --nope" in found.output
