"""Contexts that take long to read, or to hash for thousands of flags: refused in the same way by each protocol."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import httpx
import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.flags.variants import Variant
from flagstaff.http.nesting import MARKS_MAX
from tests.support.api import Caller, Json, flag_path
from tests.support.builders import make_environment, make_flag, store_all
from tests.support.sdk_keys import KeyMaker

Send = Callable[[str, str, dict[str, Any]], Awaitable[httpx.Response]]
PROTOCOLS = ("sdk", "ofrep", "frontend")
LONGEST = "\N{GRINNING FACE}" * 1024
VARIANTS = (Variant("a", 1, '"a"'), Variant("b", 1, '"b"'))


@pytest.fixture
def environ() -> dict[str, str]:
    """No limits."""
    return {"FLAGSTAFF_EVALUATE_RATE_LIMIT": "off", "FLAGSTAFF_API_RATE_LIMIT": "off"}


@pytest.fixture
async def send(client: Caller, project: Json, environment: Json, keys: KeyMaker) -> Send:
    """Evaluate by a protocol for a user with an id and custom attributes."""
    key = await keys.create(environment)

    async def evaluate(protocol: str, user_id: str, attributes: dict[str, Any]) -> httpx.Response:
        match protocol:
            case "sdk":
                context = {"user_id": user_id, "custom_attributes": attributes}
                body = {"environment": "production", "context": context}
                return await client.post("/sdk/v1/evaluate", json=body, headers={"x-sdk-key": project["sdk_key"]})
            case "ofrep":
                body = {"context": {**attributes, "targetingKey": user_id}}
                headers = {"authorization": f"Bearer {key}"}
                return await client.post("/ofrep/v1/evaluate/flags", json=body, headers=headers)
        body = {"context": {"userId": user_id, "properties": attributes}}
        return await client.post("/unleash/api/frontend", json=body, headers={"authorization": key})

    return evaluate


def reason(answer: httpx.Response) -> str:
    """Return why a context was refused."""
    assert answer.status_code == 400, answer.text
    return answer.text


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_context_has_at_most_a_thousand_attributes(send: Send, protocol: str) -> None:
    many = {f"a{number}": 1 for number in range(999)}
    assert "must not have more than 1,000 attributes" in reason(await send(protocol, "ada", {**many, "b": 1, "c": 1}))
    assert (await send(protocol, "ada", many)).status_code == 200


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_long_context_has_a_bounded_number_of_marks(send: Send, protocol: str) -> None:
    many: tuple[Any, ...] = ([0] * MARKS_MAX, [[]] * 3_000, {"x": [{}] * 3_000}, "\\" * 4_200, ":" * MARKS_MAX)
    for odd in many:
        assert "must not have more than 8,192 quotes, commas" in reason(await send(protocol, "ada", {"x": odd}))
    for fine in ([0] * (MARKS_MAX - 100), "x" * 60_000, "\\" * 4_000, [":,:"] * 1_000):
        assert (await send(protocol, "ada", {"x": fine})).status_code == 200


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_an_identifier_has_at_most_a_kilobyte_where_thousands_of_flags_hash_it(
    flagstaff: Flagstaff, ada: Caller, environment: Json, send: Send, protocol: str
) -> None:
    home = make_environment(UUID(environment["project_id"]), id=UUID(environment["id"]))
    flags = [make_flag(home, key=f"flag-{number}", rollout_percentage=50, variants=VARIANTS) for number in range(1_250)]
    await store_all(flagstaff.database, *flags)
    assert (await send(protocol, LONGEST, {})).status_code == 200  # for 2,500 rollouts and variants

    made = await ada.create_flag(environment, key="another", rollout_percentage=50)
    told = reason(await send(protocol, LONGEST, {}))
    assert "must identify the user in at most 1,024 bytes of UTF-8" in told
    assert "send a shorter identifier" in told
    for short in ("x" * 1024, "ü" * 512, "ada", ""):
        assert (await send(protocol, short, {})).status_code == 200
    (await ada.delete(flag_path(made))).raise_for_status()
    assert (await send(protocol, LONGEST, {})).status_code == 200


async def test_eight_lists_of_a_context_are_compared_and_later_ones_count_as_missing(
    send: Send, ada: Caller, environment: Json
) -> None:
    for place in range(10):
        flag = await ada.create_flag(environment, key=f"flag-{place}", fallthrough="off")
        condition = {"attribute": f"a{place}", "operator": "in", "values": ["gold"]}
        await ada.create_rule(flag, rule_type="attributes", rule_value=None, conditions=[condition])
    others = {f"other-{number}": ["x"] for number in range(20)}
    named = {f"a{place}": ["gold"] for place in range(9)}
    answer = await send("sdk", "ada", {**others, **named, "a9": "gold"})
    on = {key for key, flag in answer.json()["flags"].items() if flag["enabled"]}
    assert on == {f"flag-{place}" for place in range(10)} - {"flag-8"}
