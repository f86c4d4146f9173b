"""Docstrings name their subject: a reader does not have to look for what "that of" or "is so" stands for."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCES = Path(__file__).parent.parent / "src" / "flagstaff"
AVOIDED = {
    "begins with What, That or Those": re.compile(r"^(What|That|Those)\b"),
    "says that of or those of": re.compile(r"\b[Tt](hat|hose) of\b(?! (which|two|whom)\b)"),
    "says that something is so": re.compile(
        r"\b(is|are|was|were) (not )?so\b(?! (as|far|few|large|late|early|long|many|much|often|short|small|that))"
    ),
}
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def _docstrings(source: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, _DOCUMENTED) and (text := ast.get_docstring(node)):
            yield node.body[0].lineno, " ".join(text.split())


def _find_avoided(source: str) -> list[tuple[int, str]]:
    return [
        (line, problem)
        for line, text in _docstrings(source)
        for problem, pattern in AVOIDED.items()
        if pattern.search(text)
    ]


@pytest.mark.parametrize(
    "docstring",
    [
        "What a guard finds.",
        "Those of each day.",
        "The name, and that of the flag.",
        "Note that an instance is so.",
        "Note that others are not so any more.",
    ],
)
def test_a_docstring_that_does_not_name_its_subject_is_found(docstring: str) -> None:
    assert len(_find_avoided(f'"""{docstring}"""')) >= 1


def test_docstrings_name_their_subject() -> None:
    found = {
        f"{file.relative_to(SOURCES)}:{line}": problem
        for file in sorted(SOURCES.rglob("*.py"))
        for line, problem in _find_avoided(file.read_text())
    }
    assert found == {}
