"""Applications with released OFREP providers, each in a separate process. tests/sdks has their programs."""

import asyncio
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from flagstaff.serving.context import ATTRIBUTES_MAX_BYTES
from hatch_build import CLIENTS, find_node
from tests.support.built import built

PROGRAMS = Path(__file__).parents[1] / "sdks"
_ANSWER_SECONDS = 60


class Question(NamedTuple):
    """The question of an application: a flag of a type, its own default, and the context."""

    flag: str
    kind: str
    default: Any
    context: Mapping[str, Any]


class Details(NamedTuple):
    """The answer that an application gets."""

    value: Any
    variant: str | None
    reason: str | None
    error: str | None


def _python() -> list[str]:
    return [sys.executable, str(PROGRAMS / "python" / "ofrep.py")]


def _node(program: str = "ofrep.mjs") -> list[str]:
    node = find_node()
    assert node is not None, "make test brings one"
    assert (CLIENTS / "node_modules" / "@openfeature" / "ofrep-provider").is_dir(), "make test installs it"
    return [str(node.binary), str(PROGRAMS / "node" / program)]


COMMANDS: Mapping[str, Callable[[], list[str]]] = {"python": _python, "node": _node, **built("ofrep")}

_WITHOUT_LISTS = ("rust",)
_WITHOUT_NULL = ("java", "rust")


def can_pass(language: str, context: Mapping[str, Any]) -> bool:
    """Return whether an application can pass a context unchanged.

    Go, Java and Rust accept only valid Unicode, and lose the order of members.
    """
    if language not in built("ofrep"):
        return True
    text = json.dumps(list(context.values()), ensure_ascii=False)
    is_sound = not any(0xD800 <= ord(each) <= 0xDFFF for each in text)
    return is_sound and len(text) <= ATTRIBUTES_MAX_BYTES and all(_has(language, each) for each in context.values())


def _has(language: str, value: Any) -> bool:
    """Return whether the language's SDK has such a value."""
    if isinstance(value, list | dict):
        return language not in _WITHOUT_LISTS
    if isinstance(value, int):
        return language == "go" or value.bit_length() < 64
    return value is not None or language not in _WITHOUT_NULL


class _Program:
    """A program that reads commands. The context manager starts it on entry, and ends it on exit."""

    def __init__(self, *command: str) -> None:
        self._command = command
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        pipe = asyncio.subprocess.PIPE
        self._process = await asyncio.create_subprocess_exec(*self._command, stdin=pipe, stdout=pipe, limit=2**24)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._process is not None
        if self._process.returncode is None:
            self._process.kill()
        await self._process.communicate()

    async def connect(self, key: str, name: str = "shop") -> bool:
        """Create a client with this key; return whether it got an answer, if that is known."""
        answer = await self.carry_out({"connect": key, "name": name})
        return bool(answer["connected"])

    async def carry_out(self, command: Mapping[str, Any]) -> Any:
        """Execute a command; return the answer."""
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(command).encode() + b"\n")
        async with asyncio.timeout(_ANSWER_SECONDS):
            line = await self._process.stdout.readline()
        assert line, "the application ended"
        return json.loads(line)


class Provider(_Program):
    """A program with an OFREP provider."""

    def __init__(self, language: str, url: str) -> None:
        super().__init__(*COMMANDS[language](), url)

    async def ask(self, questions: Sequence[Question], name: str = "shop") -> list[Details]:
        """The answers to questions."""
        answers = await self.carry_out({"ask": questions, "name": name})
        return [Details(*map(each.get, Details._fields)) for each in answers]

    async def metadata(self, question: Question, name: str = "shop") -> Mapping[str, Any]:
        """Return the flag metadata of an answer."""
        ((answer),) = await self.carry_out({"ask": [question], "name": name})
        found: Mapping[str, Any] = answer.get("metadata", {})
        return found

    async def is_on(self, flag: str, default: bool = False, name: str = "shop") -> Details:
        """Return the value of a boolean flag for Ada."""
        (details,) = await self.ask([Question(flag, "boolean", default, {"targetingKey": "ada"})], name)
        return details


class FrontendClient(_Program):
    """A program with Unleash's client for browsers, which asks by GET or by POST."""

    def __init__(self, method: str, url: str) -> None:
        super().__init__(*_node("frontend.mjs"), f"{url}/unleash/api/frontend", method)

    async def ask(self, questions: Sequence[tuple[str, Mapping[str, Any]]], name: str = "shop") -> list[Any]:
        """Return for each flag and context whether it is on, the variant and its payload."""
        found: list[Any] = await self.carry_out({"ask": questions, "name": name})
        return found
