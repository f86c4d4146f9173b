"""Applications with released SDKs of Unleash, which evaluate flags themselves."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from tests.support.local_sdk import Result, read_payload
from tests.support.programs import Program, command_of

Question = tuple[str, Mapping[str, Any]]
"""A flag's key and a context."""


WITHOUT_STREAM = {"rust"}


class Application(Program):
    """A program with an SDK of Unleash."""

    path = "/unleash/api"

    def __init__(self, language: str, url: str, mode: str = "polling") -> None:
        """`mode` says how it learns of changes: `polling`, `streaming` or, in Node.js, polling for a `delta`."""
        super().__init__(command_of(language, "unleash"), url, mode)

    async def ask(self, questions: Sequence[Question], name: str = "shop") -> list[Result]:
        """Return the results of flags for users."""
        answers = await self.carry_out({"ask": questions, "name": name})
        return [Result(is_on, variant, read_payload(payload)) for is_on, variant, payload in answers]

    async def is_on(self, flag: str, user_id: str = "ada", name: str = "shop") -> bool:
        """Return whether a flag is on for a user."""
        (result,) = await self.ask([(flag, {"userId": user_id, "properties": {}})], name)
        return result.enabled

    async def measure(self, flag: str, name: str = "shop") -> None:
        """Count two orders, and measure a response time of half a second and a queue of seven, for a user of a flag."""
        await self.carry_out({"measure": flag, "name": name})


async def until(condition: Callable[[], Awaitable[bool]], seconds: float = 30) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(seconds):
        while not await condition():
            await asyncio.sleep(0.001)


def is_ascii(context: Mapping[str, Any]) -> bool:
    """Return whether everything that could identify a user is ASCII."""
    return json.dumps(context, ensure_ascii=False).isascii()
