import ast
import string
from pathlib import Path

import bot
from bot.texts.keys import Text
from bot.texts.language import Language
from bot.texts.tables import TABLES, describe, say

BOT = Path(bot.__file__).parent
OWN = {BOT / "texts" / f"{name}.py" for name in ("keys", "english", "chinese")}


def used(tree):
    """The keys that a module names as `Text.KEY`."""
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == Text.__name__
    }


def test_every_language_has_a_table_with_every_text():
    assert set(TABLES) == set(Language)
    for language, table in TABLES.items():
        assert set(table) == set(Text), language


def test_every_text_has_the_same_blanks_in_every_language():
    for text in Text:
        english, chinese = (
            {name for _, name, _, _ in string.Formatter().parse(wording) if name is not None}
            for wording in describe(text).values()
        )
        assert english == chinese, text
        assert all(name.isidentifier() for name in english), text


def test_no_text_is_left_that_nothing_says():
    said = set()
    for path in BOT.rglob("*.py"):
        if path not in OWN:
            said |= used(ast.parse(path.read_text(encoding="utf-8")))

    assert [text.name for text in Text if text.name not in said] == []


def test_a_text_is_said_in_the_language_with_its_blanks_filled():
    assert say(Text.NO_SUCH_COMMAND, Language.ENGLISH, name="x").startswith(
        "There is no command /x"
    )
    assert say(Text.NO_SUCH_COMMAND, Language.CHINESE, name="x").startswith("沒有 /x")


def test_only_the_tables_hold_texts_of_a_language():
    inline = [
        f"{path.relative_to(BOT)}:{node.lineno}"
        for path in sorted(BOT.rglob("*.py"))
        if path.parent != BOT / "texts"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Attribute) and node.attr == Language.CHINESE.name)
        or (isinstance(node, ast.Constant) and node.value == Language.CHINESE.value)
    ]

    assert inline == []
