"""Prerequisites of flags: which are refused, and the results of evaluations."""

import asyncio
from typing import Any

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, Json, environment_path, field_errors, flag_path

RED = {"key": "red", "weight": 1, "value": 1}
UNKNOWN = "must be the key of a flag of this environment"

INVALID: list[tuple[Any, dict[str, str]]] = [
    (None, {"prerequisites": "must be a list"}),
    (["base"], {"prerequisites.0": "must be an object"}),
    ([{}], {"prerequisites.0.flag_key": "is required"}),
    ([{"flag_key": "base"}, {"flag_key": "missing"}], {"prerequisites.1.flag_key": UNKNOWN}),
    ([{"flag_key": "in-staging"}], {"prerequisites.0.flag_key": UNKNOWN}),
    ([{"flag_key": "base", "flag": "x"}], {"prerequisites.0.flag": "is not a known field; did you mean flag_key?"}),
    ([{"flag_key": "base", "enabled": 1}], {"prerequisites.0.enabled": "must be true or false"}),
    (
        [{"flag_key": "base", "variants": ["red", "blue"]}],
        {"prerequisites.0.variants.1": "must be the key of a variant of base"},
    ),
    (
        [{"flag_key": "base", "enabled": False, "variants": ["red"]}],
        {"prerequisites.0": "must not have variants: a flag that is off has none"},
    ),
    ([{"flag_key": "base"}] * 2, {"prerequisites": "must have different flags; base occurs twice"}),
    ([{"flag_key": f"f{n}"} for n in range(21)], {"prerequisites": "must have at most 20 items"}),
]


async def needs(ada: Caller, environment: Json, key: str, *others: str) -> Json:
    return await ada.create_flag(environment, key=key, prerequisites=[{"flag_key": other} for other in others])


async def test_each_invalid_prerequisite_is_named_and_nothing_is_created_or_changed(
    ada: Caller, project: Json, environment: Json
) -> None:
    base = await ada.create_flag(environment, key="base", variants=[RED])
    await ada.create_flag(await ada.get_environment(project, "staging"), key="in-staging")
    needing = await needs(ada, environment, "needing", "base")
    path = f"{environment_path(environment)}/flags"
    for given, expected in INVALID:
        answer = await ada.post(path, json={"name": "x", "key": "x", "prerequisites": given})
        assert field_errors(answer) == expected, given
        answer = await ada.put(flag_path(needing), json={"enabled": False, "prerequisites": given})
        assert field_errors(answer) == expected, given
    assert (await ada.get(path)).json() == [needing, base]


async def test_a_cycle_is_a_conflict_that_names_it(ada: Caller, environment: Json) -> None:
    first = await ada.create_flag(environment, key="a")
    await needs(ada, environment, "b", "a")
    await needs(ada, environment, "c", "b", "a")
    await ada.create_flag(environment, key="free")
    for given, cycle in (("a", "a needs a"), ("b", "a needs b needs a"), ("c", "a needs c needs a")):
        answer = await ada.put(flag_path(first), json={"prerequisites": [{"flag_key": "free"}, {"flag_key": given}]})
        assert answer.status_code == 409
        assert answer.json()["detail"] == f"The prerequisites would form a cycle: {cycle}."
        field = {"field": "prerequisites.1.flag_key", "message": f"would form a cycle: {cycle}"}
        assert answer.json()["errors"] == [field]
    assert (await ada.get(flag_path(first))).json() == first


async def test_a_cycle_over_many_flags_is_named_whole(ada: Caller, environment: Json) -> None:
    first = await ada.create_flag(environment, key="f0")
    for number in range(1, 20):
        await needs(ada, environment, f"f{number}", f"f{number - 1}")
    answer = await ada.put(flag_path(first), json={"prerequisites": [{"flag_key": "f19"}]})
    assert answer.status_code == 409
    chain = " needs ".join(["f0", *(f"f{number}" for number in range(19, -1, -1))])
    assert answer.json()["detail"] == f"The prerequisites would form a cycle: {chain}."
    assert (await ada.get(flag_path(first))).json() == first


@pytest.mark.both_databases
async def test_of_changes_at_once_that_would_form_a_cycle_together_one_is_refused(
    ada: Caller, environment: Json
) -> None:
    flags = [await ada.create_flag(environment, key=key) for key in ("a", "b", "c")]
    answers = await asyncio.gather(
        *(
            ada.put(flag_path(flag), json={"prerequisites": [{"flag_key": other["key"]}]})
            for flag, other in zip(flags, [*flags[1:], flags[0]], strict=True)
        )
    )
    assert sorted(answer.status_code for answer in answers) == [200, 200, 409]


async def test_a_flag_that_others_need_is_not_deleted(ada: Caller, environment: Json) -> None:
    base = await ada.create_flag(environment, key="base")
    others = [await needs(ada, environment, key, "base") for key in ("b", "a")]
    answer = await ada.delete(flag_path(base))
    assert answer.status_code == 409
    assert "The flag base is a prerequisite of a, b." in answer.json()["detail"]
    await ada.delete(flag_path(others[0]))
    await ada.put(flag_path(others[1]), json={"prerequisites": []})
    assert (await ada.delete(flag_path(base))).status_code == 204


async def test_a_prerequisite_that_does_not_hold_turns_the_flag_off(
    client: Caller, ada: Caller, project: Json, environment: Json
) -> None:
    base = await ada.create_flag(environment, key="z-base", enabled=False)
    await needs(ada, environment, "middle", "z-base")
    await ada.create_flag(
        environment,
        key="a-last",
        prerequisites=[{"flag_key": "middle"}, {"flag_key": "z-base", "enabled": False}],
    )

    async def evaluate() -> dict[str, str]:
        flags = (await client.evaluate(project["sdk_key"])).json()["flags"]
        return {key: flag["reason"] for key, flag in flags.items() if not flag["enabled"]}

    assert await evaluate() == {
        "z-base": "Flag is globally disabled",
        "middle": "Prerequisite z-base is not met",
        "a-last": "Prerequisite middle is not met",
    }
    await ada.put(flag_path(base), json={"enabled": True})
    assert await evaluate() == {"a-last": "Prerequisite z-base is not met"}


async def test_the_history_says_which_prerequisite_did_not_hold_and_counts_variants(
    flagstaff: Flagstaff, client: Caller, ada: Caller, project: Json, environment: Json
) -> None:
    await ada.create_flag(environment, key="base", enabled=False)
    await needs(ada, environment, "needing", "base")
    varied = await ada.create_flag(environment, key="varied", variants=[RED])
    await client.evaluate(project["sdk_key"], context={"user_id": "ada"})
    path = f"{environment_path(environment)}/evaluations"
    while flagstaff.history.recorder.waiting:
        await asyncio.sleep(0.01)
    items = (await ada.get(path)).json()["items"]
    assert items[0]["flags"] == {
        "base": {"enabled": False, "reason": "Flag is globally disabled"},
        "needing": {
            "enabled": False,
            "reason": "Prerequisite base is not met",
            "rule_id": None,
            "bucket": None,
            "variant": None,
        },
        "varied": {
            "enabled": True,
            "reason": "Flag enabled globally",
            "rule_id": None,
            "bucket": None,
            "variant": "red",
        },
    }
    found = (await ada.get(f"{flag_path(varied)}/evaluations")).json()["items"][0]
    assert found["variant"] == "red"
    flags = (await ada.get(f"{path}/summary?interval=99999d")).json()["flags"]
    assert flags["varied"][0]["variants"] == {"red": 1}
    assert flags["needing"][0]["reasons"] == {"Prerequisite base is not met": 1}
    assert "variants" not in flags["base"][0]
