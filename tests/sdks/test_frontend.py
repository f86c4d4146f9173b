"""Unleash's released client for browsers, unmodified, against a real server, which evaluates the flags for it."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.sdks.test_ofrep import shop, store_cases
from tests.support.api import Json, flag_path
from tests.support.providers import FrontendClient
from tests.support.server import ServerProcess
from tests.support.stores import Store, sqlite_store

ADA = {"userId": "ada", "properties": {}}
each_method = pytest.mark.parametrize("method", ["GET", "POST"])


@pytest.fixture
def sqlite(sqlite_template: Path, data_directory: Path) -> Store:
    return sqlite_store(sqlite_template, data_directory)


def payload(value: Any) -> Json | None:
    """Return a variant's value as the client gets it."""
    if value is None:
        return None
    kind = {str: "string", bool: "string", dict: "json"}.get(type(value), "number")
    return {"type": kind, "value": value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))}


def questions_of(document: Any) -> Iterator[tuple[str, Json, list[Any]]]:
    """Yield a flag, a user and the right answer, if the client can express the user: attributes are texts."""
    depends_on_time = {each["key"] for each in document["flags"] if "current_time" in json.dumps(each)}
    for case in document["cases"]:
        context = case["context"] or {}
        custom = context.get("custom_attributes", {})
        is_plain = all(isinstance(value, str) and value for value in custom.values())
        if not is_plain or {"email", "user_email"} & custom.keys():
            continue
        if "current_time" in json.dumps(document.get("segments", {})):
            continue
        email = {"email": context["user_email"]} if context.get("user_email") else {}
        user = {"userId": context.get("user_id") or "", "properties": {**custom, **email}}
        for flag, expected in case["expected"].items():
            if flag not in depends_on_time:
                value = expected.get("value")
                yield flag, user, [expected["enabled"], expected.get("variant"), value]


def fits_an_address(user: Json) -> bool:
    """Return whether a context fits into the address of a GET: it has no half of a character, and is not too long."""
    texts = [user["userId"], *user["properties"].values()]
    is_sound = not any(0xD800 <= ord(each) <= 0xDFFF for text in texts for each in text)
    return is_sound and len(quote(json.dumps(user))) < 4_000


def check_answers(answers: Sequence[Any], questions: Sequence[tuple[str, Json, list[Any]]]) -> None:
    """Assert that a client has the right answers."""
    for theirs, (flag, user, (is_on, variant, value)) in zip(answers, questions, strict=True):
        assert theirs[:2] == [is_on, variant], (flag, user)
        ours = payload(value)
        assert (theirs[2] and theirs[2]["type"]) == (ours and ours["type"]), (flag, user)
        if ours and ours["type"] != "string":
            assert json.loads(theirs[2]["value"]) == value
        elif ours:
            assert theirs[2] == ours


@each_method
async def test_every_case_is_answered_as_the_specification_says(sqlite: Store, method: str) -> None:
    keys = await store_cases(sqlite)
    count = 0
    async with ServerProcess(sqlite) as server, FrontendClient(method, server.url) as client:
        for name, (document, key) in keys.items():
            assert await client.connect(key, name)
            questions = [each for each in questions_of(document) if method == "POST" or fits_an_address(each[1])]
            answers = await client.ask([(flag, user) for flag, user, _ in questions], name)
            check_answers(answers, questions)
            count += len(questions)
        assert count > 500
        assert "properties" not in server.log
        assert "@example" not in server.log


@each_method
async def test_a_flag_that_is_killed_is_off_at_the_next_fetch(sqlite: Store, method: str) -> None:
    async with (
        ServerProcess(sqlite) as server,
        shop(server) as (caller, flag, key),
        FrontendClient(method, server.url) as client,
    ):
        assert await client.connect(key)
        assert await client.ask([("checkout", ADA)]) == [[True, None, None]]
        assert (await caller.post(f"{flag_path(flag)}/toggle")).status_code == 200
        assert await client.ask([("checkout", ADA)]) == [[False, None, None]]


@each_method
async def test_a_key_that_is_not_valid_is_reported(sqlite: Store, method: str) -> None:
    async with ServerProcess(sqlite) as server, FrontendClient(method, server.url) as client:
        assert not await client.connect("nobody")
