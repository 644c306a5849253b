"""Breaks drawn at random, evenly over all packages."""

import ast
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from scripts.mutation.breaks import Break, is_within

PACKAGES = ("memory", "bot", "adapters")

_Spot = tuple[str, int, int, str]
"""A kind of break, where it starts and ends in bytes, and what comes instead."""
_Node = ast.expr | ast.stmt
_Function = ast.FunctionDef | ast.AsyncFunctionDef

_OTHER: dict[type[ast.cmpop], ast.cmpop] = {
    ast.Lt: ast.LtE(),
    ast.LtE: ast.Lt(),
    ast.Gt: ast.GtE(),
    ast.GtE: ast.Gt(),
    ast.Eq: ast.NotEq(),
    ast.NotEq: ast.Eq(),
    ast.Is: ast.IsNot(),
    ast.IsNot: ast.Is(),
    ast.In: ast.NotIn(),
    ast.NotIn: ast.In(),
}
_SQL = re.compile(r"\b(?:SELECT|INSERT|UPDATE|DELETE|WHERE)\b")
_SQL_CLAUSE = re.compile(
    r"\s+(?:AND|OR) [\w.]+ (?:(?:NOT )?IN \([^()]*\)|IS(?: NOT)? NULL"
    r"|(?:=|<>|<=?|>=?|IS|(?:NOT )?GLOB|MATCH) [^\s()\"]+)"
)
_SQL_BOUND = re.compile(r"(?<= )[<>](?= )")


def drawn(root: Path, seed: int, count: int, packages: list[str]) -> list[Break]:
    """A sample: one break of each package in turn, each kind of break as likely as another.

    Args:
        root: of the work tree.
        seed: the same gives the same breaks of the same source.
        count: how many; fewer where the source has not so many.
        packages: only these; empty is all.
    """
    rng = random.Random(seed)
    pools: dict[str, dict[str, list[Break]]] = defaultdict(lambda: defaultdict(list))
    for path in _files(root):
        if not packages or is_within(path, packages):
            for one in possible(path, (root / path).read_bytes()):
                pools[".".join(path.split("/")[:-1][:2])][one.kind].append(one)
    order = rng.sample(sorted(pools), len(pools))
    found: list[Break] = []
    while order and len(found) < count:
        package = order.pop(0)
        kind = rng.choice(sorted(pools[package]))
        choices = pools[package][kind]
        found.append(choices.pop(rng.randrange(len(choices))))
        if not choices:
            del pools[package][kind]
        if pools[package]:
            order.append(package)
    return found


def _files(root: Path) -> list[str]:
    return sorted(
        path.relative_to(root).as_posix()
        for package in PACKAGES
        for path in (root / package).rglob("*")
        if path.suffix in {".py", ".sql"}
    )


def possible(path: str, source: bytes) -> Iterator[Break]:
    """Every break that a file offers, one at a time."""
    spots = _in_sql(source.decode(), 0) if path.endswith(".sql") else _in_python(source)
    for kind, start, end, new in spots:
        yield Break(path=path, start=start, end=end, new=new, kind=kind)


def _in_sql(text: str, offset: int) -> Iterator[_Spot]:
    def spot(kind: str, match: re.Match[str], new: str) -> _Spot:
        start, end = (len(text[:at].encode()) + offset for at in match.span())
        return kind, start, end, new

    for match in _SQL_CLAUSE.finditer(text):
        yield spot("drop SQL clause", match, "")
    for match in _SQL_BOUND.finditer(text):
        yield spot("SQL off by one", match, f"{match[0]}=")


def _in_python(source: bytes) -> Iterator[_Spot]:
    tree, starts = ast.parse(source), [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for statement in tree.body:
        if isinstance(statement, ast.Assign):
            start, end = _span(statement.value, starts)
            text = source[start:end].decode()
            if _SQL.search(text):
                yield from _in_sql(text, start)
        for one in _inside_functions(statement):
            for kind, old, new in (*_of_values(one), *_of_conditions(one), *_of_calls(one)):
                yield kind, *_span(old, starts), new


def _span(node: _Node, starts: list[int]) -> tuple[int, int]:
    """Where a node starts and ends in bytes, given where each line starts."""
    last, end = node.end_lineno or node.lineno, node.end_col_offset or 0
    return starts[node.lineno - 1] + node.col_offset, starts[last - 1] + end


def _inside_functions(node: ast.AST, *, inside: bool = False) -> Iterator[_Node]:
    """What functions do: neither their signatures nor annotations, nor text that is put together."""
    if isinstance(node, ast.JoinedStr):
        return
    if inside and isinstance(node, ast.expr | ast.stmt):
        yield node
    if isinstance(node, _Function):
        children: list[ast.AST] = list(node.body)
    elif isinstance(node, ast.AnnAssign):
        children = [node.value] if node.value else []
    else:
        children = list(ast.iter_child_nodes(node))
    for child in children:
        yield from _inside_functions(child, inside=inside or isinstance(node, _Function))


def _of_values(node: _Node) -> Iterator[tuple[str, _Node, str]]:
    match node:
        case ast.Constant(value=bool(value)):
            yield "wrong constant", node, str(not value)
        case ast.Constant(value=int(value)):
            yield "off by one", node, str(value + 1)
        case ast.Compare(left=left, ops=[operator], comparators=others):
            other = ast.Compare(left, [_OTHER[type(operator)]], others)
            yield "wrong comparison", node, ast.unparse(other)


def _of_conditions(node: _Node) -> Iterator[tuple[str, _Node, str]]:
    match node:
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            yield "negate condition", test, f"not ({ast.unparse(test)})"
        case ast.BoolOp(op=operator, values=values):
            other = ast.Or() if isinstance(operator, ast.And) else ast.And()
            yield "and for or", node, f"({ast.unparse(ast.BoolOp(other, values))})"
            for n in range(len(values)):
                rest = values[:n] + values[n + 1 :]
                kept = rest[0] if len(rest) == 1 else ast.BoolOp(operator, rest)
                yield "drop condition", node, f"({ast.unparse(kept)})"


def _of_calls(node: _Node) -> Iterator[tuple[str, _Node, str]]:
    match node:
        case ast.Call(args=[ast.Starred(), *_]) | ast.Call(args=[_, ast.Starred(), *_]):
            return
        case ast.Call(func=function, args=[first, second, *more], keywords=keywords):
            swapped = ast.Call(function, [second, first, *more], keywords)
            yield "swap arguments", node, ast.unparse(swapped)
        case ast.Expr(value=ast.Call() | ast.Await(value=ast.Call())):
            if not ast.unparse(node).startswith("log."):
                yield "drop call", node, "pass"
