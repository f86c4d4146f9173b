"""Applications with released clients that ask the server for results: OFREP providers, and Unleash for browsers."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from flagstaff.serving.context import ATTRIBUTES_MAX_BYTES
from tests.support.built import built
from tests.support.programs import Program, command_of


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


class Provider(Program):
    """A program with an OFREP provider."""

    def __init__(self, language: str, url: str) -> None:
        super().__init__(command_of(language, "ofrep"), url)

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


class FrontendClient(Program):
    """A program with Unleash's client for browsers, which asks by GET or by POST."""

    path = "/unleash/api/frontend"

    def __init__(self, method: str, url: str) -> None:
        super().__init__(command_of("node", "frontend"), url, method)

    async def ask(self, questions: Sequence[tuple[str, Mapping[str, Any]]], name: str = "shop") -> list[Any]:
        """Return for each flag and context whether it is on, the variant and its payload."""
        found: list[Any] = await self.carry_out({"ask": questions, "name": name})
        return found
