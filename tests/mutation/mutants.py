"""Mutants of a module: its code with one small mistake each, such as `<=` for `<`."""

import ast
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

_SWAPPED: dict[type, type] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.Continue: ast.Break,
}
_CALLS = {"any": "all", "all": "any", "max": "min", "min": "max"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_UNSEEN = ("annotation", "returns", "type_params")


Route = tuple[tuple[str, int | None], ...]
"""The fields, and places in lists, that lead from a module to a node."""


@dataclass(frozen=True)
class Mutant:
    """A module with one mistake. It `is_inside` if the mistake is in the body of a function."""

    path: Path
    number: int
    line: int
    change: str
    is_inside: bool
    route: Route
    replacement: ast.AST

    def compile(self) -> CodeType:
        """Return the code of the module with the mistake. Its lines are those of the original."""
        tree: Any = ast.parse(self.path.read_text())
        node = tree
        for name, index in self.route[:-1]:
            value = getattr(node, name)
            node = value if index is None else value[index]
        name, index = self.route[-1]
        if index is None:
            setattr(node, name, self.replacement)
        else:
            getattr(node, name)[index] = self.replacement
        return compile(ast.fix_missing_locations(tree), str(self.path.resolve()), "exec")

    def __str__(self) -> str:
        return f"{self.path}#{self.number}, line {self.line}: {self.change}"


@dataclass
class _Place:
    route: Route
    node: ast.AST
    is_inside: bool


def find_mutants(path: Path) -> list[Mutant]:
    """Return all mutants of a module in the order of its text. Annotations, docstrings and messages stay."""
    tree = ast.parse(path.read_text())
    found: list[Mutant] = []
    for place in _walk(tree, (), is_inside=False):
        for replacement in _replacements(place.node):
            line = getattr(place.node, "lineno", 0)
            ast.copy_location(replacement, place.node)
            change = f"{_text(place.node)} -> {_text(replacement)}"
            found.append(Mutant(path, len(found), line, change, place.is_inside, place.route, replacement))
    return found


def _walk(node: ast.AST, route: Route, *, is_inside: bool) -> Iterator[_Place]:
    for name, value in ast.iter_fields(node):
        if name in _UNSEEN:
            continue
        inside = is_inside or (name == "body" and isinstance(node, (*_FUNCTIONS, ast.Lambda)))
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.expr | ast.stmt) and not _is_text(child):
                place = (*route, (name, index))
                yield _Place(place, child, inside)
                yield from _walk(child, place, is_inside=inside)
            elif isinstance(child, ast.AST) and not isinstance(child, ast.expr | ast.stmt):
                yield from _walk(child, (*route, (name, index)), is_inside=inside)


def _is_text(node: ast.AST) -> bool:
    """Return whether a node is a docstring, a message or an annotated name without a value."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom)


def _replacements(node: ast.AST) -> Iterator[ast.AST]:  # noqa: C901, PLR0912
    match node:
        case ast.Compare(ops=ops):
            for index, each in enumerate(ops):
                yield _with(node, ops=[*ops[:index], _SWAPPED[type(each)](), *ops[index + 1 :]])
        case ast.BoolOp(op=op, values=values):
            yield _with(node, op=_SWAPPED[type(op)]())
            yield from (each for each in values if not isinstance(each, ast.NamedExpr | ast.Compare))
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in _SWAPPED:
            yield _with(node, op=_SWAPPED[type(op)]())
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.Constant(value=value) if (replaced := _other(value)) is not None:
            yield ast.Constant(replaced)
        case ast.Call(func=ast.Name(id=name)) if name in _CALLS:
            yield _with(node, func=ast.Name(_CALLS[name], ast.Load()))
        case ast.IfExp(body=body, orelse=other):
            yield from (body, other)
        case ast.Set(elts=members) if len(members) > 1:
            yield from (_with(node, elts=[*members[:index], *members[index + 1 :]]) for index in range(len(members)))
        case ast.If(test=test) if not isinstance(test, ast.Compare | ast.BoolOp):
            yield _with(node, test=ast.UnaryOp(ast.Not(), test))
        case ast.comprehension(ifs=[_, *_]):
            yield _with(node, ifs=[])
        case ast.Return(value=value) if value is not None and not _is_none(value):
            yield ast.Return(ast.Constant(None))
        case ast.Expr() | ast.Raise() | ast.AugAssign() | ast.Delete():
            yield ast.Pass()
        case ast.Continue():
            yield ast.Break()


def _other(value: object) -> Any:
    """Return another constant of the type; None if there is none. A text with a space is a message."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str() if value and " " not in value:
            return value + "?"
        case _:
            return None


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _with(node: ast.AST, **changed: object) -> ast.AST:
    """Return a node of the same type with some fields changed."""
    return type(node)(**{**dict(ast.iter_fields(node)), **changed})


def _text(node: ast.AST) -> str:
    text = " ".join(ast.unparse(ast.fix_missing_locations(deepcopy(node))).split())
    return text if len(text) <= 110 else f"{text[:50]} … {text[-50:]}"
