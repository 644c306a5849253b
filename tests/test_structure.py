"""Bounds on files and packages that no linter knows. Each test lists every offender at once."""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
TREES = {
    path.relative_to(ROOT): ast.parse(path.read_text())
    for top in ("bot", "adapters", "memory")
    for path in sorted((ROOT / top).rglob("*.py"))
}
FILE_LINES, FUNCTION_LINES = 400, 40


def test_no_file_is_longer_than_its_bound():
    lengths = {path: len((ROOT / path).read_text().splitlines()) for path in TREES}

    assert [(str(path), lines) for path, lines in lengths.items() if lines > FILE_LINES] == []


def test_every_function_fits_on_a_screen():
    functions = [
        (f"{path}:{node.lineno} {node.name}", node.end_lineno - node.lineno + 1)
        for path, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]

    assert [(name, lines) for name, lines in functions if lines > FUNCTION_LINES] == []


def test_init_holds_one_docstring_and_nothing_else():
    bodies = {path: tree.body for path, tree in TREES.items() if path.name == "__init__.py"}

    assert [
        str(path)
        for path, body in bodies.items()
        if len(body) != 1 or not isinstance(body[0], ast.Expr)
    ] == []


def test_no_two_classes_share_a_name():
    places = defaultdict(list)
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(str(path))

    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}
