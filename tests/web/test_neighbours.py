"""No request by an account or a stranger delays evaluations: nothing blocks the event loop for long."""

import asyncio
import json
from collections.abc import AsyncIterator
from urllib.parse import urlencode
from uuid import UUID, uuid4

import pytest

from flagstaff.applications.local_flags_service import LocalFlagsSource
from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.concurrency.shared_answers import SHARED_SECONDS, Shared
from flagstaff.concurrency.slots import AT_ONCE, LONG_AT_ONCE, WAITING
from flagstaff.evaluation.history.layout import RULE_BASE, Decider, LayoutFlag
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.flags.flags import Fallthrough, RuleType
from flagstaff.flags.prerequisites import Prerequisite
from flagstaff.flags.variants import Variant
from flagstaff.values.errors import Code, Error
from tests.support.api import Caller, Json, environment_path, field_errors, flag_path, project_path
from tests.support.builders import make_environment, make_flag, make_rule, store_all
from tests.support.clock import Clock
from tests.support.history import make_batch, make_layout, write
from tests.support.holds import ask, watch_holds
from tests.support.queries import reads
from tests.support.sdk_keys import KeyMaker
from tests.support.sessions import PASSWORD, log_in
from tests.web.conftest import Call

# Some milliseconds on an idle machine, scaled by the time that a known piece of work takes now.
LONGEST_UNITS = 12
# Such a body is parsed in one step; comparing its names with each other took seconds.
LONGEST_FOR_A_LARGE_CONTEXT_UNITS = 20
UNKNOWN = {f"x{number}": 0 for number in range(10_000)}


async def store_flags(flagstaff: Flagstaff, environment: Json, count: int, **values: object) -> None:
    """Write flags with two rules each directly to the database."""
    home = make_environment(UUID(environment["project_id"]), id=UUID(environment["id"]))
    flags = [make_flag(home, key=f"flag-{number}", **values) for number in range(count)]
    rules = [make_rule(flag, rule_value=f"{flag.key}-{number}") for flag in flags for number in range(2)]
    await store_all(flagstaff.database, *flags, *rules)


async def test_a_list_of_long_flags_is_made_in_pieces(flagstaff: Flagstaff, ada: Caller, environment: Json) -> None:
    await store_flags(flagstaff, environment, 400, description="й" * 10_000)
    path = f"{environment_path(environment)}/flags"
    assert ada.token
    await ask(flagstaff.edge.asgi, "GET", path, token=ada.token)

    async with watch_holds() as holds:
        answers = await asyncio.gather(*(ask(flagstaff.edge.asgi, "GET", path, token=ada.token) for _ in range(4)))

    assert all(status == 200 and length > 8_000_000 for status, length in answers)
    assert holds.longest_in_units < LONGEST_UNITS


@pytest.mark.both_databases
async def test_a_page_of_changes_with_long_descriptions_is_made_in_pieces(
    flagstaff: Flagstaff, ada: Caller, environment: Json
) -> None:
    flag = await ada.create_flag(environment, description="\U0001f6a9" * 10_000)
    for number in range(60):
        assert (await ada.put(flag_path(flag), json={"rollout_percentage": number})).status_code == 200
    assert ada.token
    for path in (environment_path(environment), f"/api/projects/{environment['project_id']}"):
        async with watch_holds() as holds:
            status, length = await ask(flagstaff.edge.asgi, "GET", f"{path}/changes", query="limit=60", token=ada.token)
        assert (status, length > 4_000_000) == (200, True)
        assert holds.longest_in_units < LONGEST_UNITS


@pytest.mark.both_databases
async def test_a_change_among_a_thousand_flags_is_taken_over_in_pieces(
    flagstaff: Flagstaff, ada: Caller, client: Caller, project: Json, environment: Json
) -> None:
    await store_flags(flagstaff, environment, 1_000, rollout_percentage=20)
    flag = await ada.create_flag(environment)
    assert (await client.evaluate(project["sdk_key"])).status_code == 200
    assert ada.token

    async with watch_holds() as holds:
        for _ in range(3):
            status, _ = await ask(flagstaff.edge.asgi, "POST", f"{flag_path(flag)}/toggle", token=ada.token)
            assert status == 200

    assert holds.longest_in_units < LONGEST_UNITS
    answer = await client.evaluate(project["sdk_key"])
    assert answer.json()["flags"]["new-checkout"]["enabled"] is False


@pytest.mark.both_databases
async def test_an_explanation_of_a_thousand_flags_is_made_in_pieces(
    flagstaff: Flagstaff, ada: Caller, environment: Json
) -> None:
    await store_flags(flagstaff, environment, 1_000, rollout_percentage=20)
    flag = await ada.create_flag(environment)
    rules = [{"rule_type": "user_id", "rule_value": f"user-{number}"} for number in range(1_000)]
    path = f"{environment_path(environment)}/explain"
    assert ada.token
    for content, least in ((b"{}", 600_000), (json.dumps({"flag": {**flag, "rules": rules}}).encode(), 800_000)):
        await ask(flagstaff.edge.asgi, "POST", path, token=ada.token, content=content)
        async with watch_holds() as holds:
            status, length = await ask(flagstaff.edge.asgi, "POST", path, token=ada.token, content=content)
        assert (status, length > least) == (200, True)
        assert holds.longest_in_units < LONGEST_UNITS


@pytest.mark.both_databases
async def test_flags_with_hundreds_of_rules_are_put_back_in_pieces(
    flagstaff: Flagstaff, ada: Caller, project: Json, environment: Json
) -> None:
    home = make_environment(UUID(environment["project_id"]), id=UUID(environment["id"]))
    for key in ("first", "second"):
        flag = make_flag(home, key=key)
        rules = [make_rule(flag, rule_value=f"user-{number}") for number in range(400)]
        await store_all(flagstaff.database, flag, *rules)
        assert (await ada.delete(f"{environment_path(environment)}/flags/{flag.id}")).status_code == 204
    path = f"{project_path(project)}/changes"
    listed = (await ada.get(path, params={"action": "flag.deleted"})).json()["items"]
    assert ada.token
    for options in ({"dry_run": True}, {}):
        content = json.dumps({"changes": [each["id"] for each in listed], **options}).encode()
        async with watch_holds() as holds:
            status, _ = await ask(flagstaff.edge.asgi, "POST", f"{path}/restore", token=ada.token, content=content)
        assert status == 200
        assert holds.longest_in_units < LONGEST_UNITS


async def test_an_explanation_for_thousands_of_attributes_does_not_block_the_others(
    flagstaff: Flagstaff, ada: Caller, environment: Json
) -> None:
    await ada.create_flag(environment)
    path = f"{environment_path(environment)}/explain"
    assert ada.token
    for count, expected in ((1_000, 200), (16_000, 400)):
        attributes = {f"k{number}": number for number in range(count)}
        content = json.dumps({"context": {"custom_attributes": attributes}}).encode()
        async with watch_holds() as holds:
            status, _ = await ask(flagstaff.edge.asgi, "POST", path, token=ada.token, content=content)
        assert status == expected
        assert holds.longest_in_units < LONGEST_FOR_A_LARGE_CONTEXT_UNITS


@pytest.mark.both_databases
async def test_a_flag_that_needs_hundreds_of_others_is_explained_in_pieces(
    flagstaff: Flagstaff, ada: Caller, environment: Json
) -> None:
    home = make_environment(UUID(environment["project_id"]), id=UUID(environment["id"]))
    keys = [f"flag-{number}" for number in range(600)]
    needs = [(), *((Prerequisite(key),) for key in keys)]
    flags = [make_flag(home, key=key, prerequisites=need) for key, need in zip(keys, needs, strict=False)]
    await store_all(flagstaff.database, *flags)
    listed = (await ada.get(f"{environment_path(environment)}/flags")).json()
    last = {**next(each for each in listed if each["key"] == keys[-1]), "project_id": environment["project_id"]}
    draft = json.dumps({"flag": {**last, "rules": []}}).encode()
    assert ada.token
    for path, content in (
        (f"{environment_path(environment)}/explain", json.dumps({"flag_keys": keys[-1:]}).encode()),
        (f"{environment_path(environment)}/explain", draft),
        (f"{flag_path(last)}/impact", draft),
    ):
        async with watch_holds() as holds:
            status, _ = await ask(flagstaff.edge.asgi, "POST", path, token=ada.token, content=content)
        assert status == 200
        assert holds.longest_in_units < LONGEST_UNITS, path


async def test_flags_that_each_need_twenty_others_do_not_block_the_others(
    flagstaff: Flagstaff, ada: Caller, project: Json, environment: Json
) -> None:
    home = make_environment(UUID(environment["project_id"]), id=UUID(environment["id"]))
    keys = [f"flag-{number:04}" for number in range(1_500)]
    flags = [
        make_flag(home, key=key, prerequisites=tuple(map(Prerequisite, keys[place // 30 * 30 - 30 :][:20])))
        if place >= 30
        else make_flag(home, key=key)
        for place, key in enumerate(keys)
    ]
    await store_all(flagstaff.database, *flags)
    inside, first, needed = environment_path(environment), flags[0], flags[-60]
    needs = [{"flag_key": key, "enabled": True} for key in keys[-20:]]
    users = [{"user_id": "ada"}, {"user_id": "eve"}]
    playground = {"environment_ids": [environment["id"]], "users": users, "flag_keys": keys[-100:]}
    assert ada.token
    for method, path, body, expected in (
        ("POST", f"{inside}/explain", {"flag_keys": keys[-50:]}, 200),
        ("POST", f"{inside}/answers", {"after": keys[-60]}, 200),
        ("POST", f"{project_path(project)}/playground", playground, 200),
        ("GET", f"{inside}/condition-work", None, 200),
        ("GET", f"{inside}/export", None, 200),
        ("POST", f"{inside}/flags", {"name": "New", "key": "new", "prerequisites": needs}, 400),  # beyond the budget
        ("PUT", f"{inside}/flags/{first.id}", {"prerequisites": needs[-1:]}, 409),  # would form a cycle
        ("DELETE", f"{inside}/flags/{needed.id}", None, 409),
    ):
        content = b"" if body is None else json.dumps(body).encode()
        async with watch_holds() as holds:
            status, _ = await ask(flagstaff.edge.asgi, method, path, token=ada.token, content=content)
        assert status == expected, path
        assert holds.longest_in_units < LONGEST_UNITS, path


async def test_the_evaluations_of_one_of_thousands_of_flags_are_listed_in_pieces(
    flagstaff: Flagstaff, ada: Caller, environment: Json, clock: Clock
) -> None:
    flag = await ada.create_flag(environment)
    others = [LayoutFlag(uuid4(), f"flag-{number}", 50, Outcome.NOT_IN_ROLLOUT) for number in range(5_000)]
    own = LayoutFlag(UUID(flag["id"]), flag["key"], 0, Outcome.ON)
    start = round(clock().timestamp()) * 1_000_000_000
    for place, layout in enumerate(
        (make_layout(recorded=(*others, own), constant=()), make_layout(recorded=tuple(others), constant=(own,)))
    ):
        recorded = bytes([10]) * 5_000 + bytes([100]) * (len(layout.recorded) - 5_000)  # no rollout of the flag itself
        records = [(start + number, "ada", None, recorded) for number in range(place * 20, place * 20 + 20)]
        await write(flagstaff.database, make_batch(UUID(environment["id"]), layout, *records))
    path = f"{flag_path(flag)}/evaluations"
    found = (await ada.get(path)).json()["items"]
    assert [each["enabled"] for each in found] == [True] * 40
    assert ada.token
    async with watch_holds() as holds:
        status, _ = await ask(flagstaff.edge.asgi, "GET", path, token=ada.token)
    assert status == 200
    assert holds.longest_in_units < LONGEST_UNITS


@pytest.mark.both_databases
async def test_the_causes_of_results_with_thousands_of_rules_and_values_are_found_in_pieces(
    flagstaff: Flagstaff, ada: Caller, project: Json, environment: Json, clock: Clock
) -> None:
    users = {"attribute": "user_id", "operator": "in", "values": [f"user-{n:030}" for n in range(1_000)]}
    segment = await ada.create_segment(project, conditions=[users])
    home = make_environment(UUID(environment["project_id"]), id=UUID(environment["id"]))
    flag = make_flag(home, key="flag-0", fallthrough=Fallthrough.OFF)
    rules = [make_rule(flag, rule_value=f"somebody-{number}") for number in range(900)]
    await store_all(flagstaff.database, flag, *rules)
    target = {"id": flag.id, "environment_id": environment["id"], "project_id": environment["project_id"]}
    await ada.create_rule(target, rule_type="segment", rule_value="beta")
    others = tuple(LayoutFlag(uuid4(), f"other-{number}", 50, Outcome.NOT_IN_ROLLOUT) for number in range(5_000))
    layout = make_layout(recorded=(*others, LayoutFlag(flag.id, "flag-0", 100, Outcome.NO_RULE)), constant=())
    on, off = (
        bytes([10]) * 5_000 + bytes([RULE_BASE + outcome]) for outcome in (Outcome.SEGMENT_RULE, Outcome.NO_RULE)
    )
    path = f"/api/projects/{project['id']}/segments/{segment['id']}"
    start = round(clock().timestamp()) * 1_000_000_000
    for number in range(20):
        record = (start + number * 60 * 1_000_000_000, users["values"][0], None, (on, off)[number % 2])
        await write(flagstaff.database, make_batch(home.id, layout, record))
        clock.advance(seconds=30)
        values = users["values"][1 - number % 2 :]
        assert (await ada.put(path, json={"conditions": [{**users, "values": values}]})).status_code == 200
        clock.advance(seconds=30)
    found = await ada.get(f"{environment_path(environment)}/evaluations/changes?user_id={users['values'][0]}")
    results = [
        {
            "flag_key": each["flag_key"],
            "before_evaluation_id": each["before"]["evaluation_id"],
            "after_evaluation_id": each["after"]["evaluation_id"],
        }
        for each in found.json()["items"]
    ]
    path, content = f"{environment_path(environment)}/evaluations/changes/causes", json.dumps({"results": results})
    assert ada.token
    async with watch_holds() as holds:
        status, length = await ask(flagstaff.edge.asgi, "POST", path, token=ada.token, content=content.encode())
    assert (status, length > 1_000_000) == (200, True)
    assert holds.longest_in_units < LONGEST_UNITS


async def test_a_segment_that_many_flags_name_is_sent_in_pieces_to_sdks_that_evaluate_flags_themselves(
    flagstaff: Flagstaff, ada: Caller, keys: KeyMaker, project: Json, environment: Json
) -> None:
    values = [f"user-{number:030}" for number in range(10_000)]
    users = {"attribute": "user_id", "operator": "in", "values": values}
    await ada.create_segment(project, conditions=[users])
    home = make_environment(UUID(environment["project_id"]), id=UUID(environment["id"]))
    flags = [make_flag(home, key=f"flag-{number}", fallthrough=Fallthrough.OFF) for number in range(60)]
    rules = [make_rule(flag, rule_type=RuleType.SEGMENT, rule_value="beta") for flag in flags]
    await store_all(flagstaff.database, *flags, *rules)
    key = await keys.create(environment)
    assert ada.token
    for path, token in (
        ("/unleash/api/client/features", key),
        ("/unleash/api/client/delta", key),
        (f"{environment_path(environment)}/export", ada.token),
    ):
        for _ in range(2):  # with and without loading them
            async with watch_holds() as holds:
                status, length = await ask(flagstaff.edge.asgi, "GET", path, token=token)
            assert (status, length > 20_000_000) == (200, True), path
            assert holds.longest_in_units < LONGEST_UNITS, path
    known = await LocalFlagsSource(flagstaff.database).load(home.project_id, home.id)
    assert known is not None
    shared = {id(part) for feature in known.features.values() for part in feature if len(part) > 100_000}
    assert len(shared) == 1


async def test_a_users_history_of_thousands_of_flags_is_made_in_pieces(
    flagstaff: Flagstaff, ada: Caller, environment: Json, clock: Clock
) -> None:
    flags = tuple(LayoutFlag(uuid4(), f"flag-{number}", 50, Outcome.NOT_IN_ROLLOUT) for number in range(5_000))
    start = round(clock().timestamp()) * 1_000_000_000
    sides = [bytes([byte]) * len(flags) for byte in (10, 90)]
    records = [(start + number, "ada", None, sides[number // 4 % 2]) for number in range(40)]
    layout = make_layout(recorded=flags, constant=())
    await write(flagstaff.database, make_batch(UUID(environment["id"]), layout, *records))
    path = f"{environment_path(environment)}/evaluations"
    newest = (await ada.get(f"{path}?answers=false&limit=1")).json()["items"][0]
    assert (newest["on"], newest["off"]) == (0, 5_000)
    assert ada.token
    questions = (
        ("/changes", "user_id=ada", 1_000_000),
        (f"/{newest['id']}", "", 300_000),
        ("", "answers=false", 1_000),
    )

    for end, query, least in questions:
        async with watch_holds() as holds:
            status, length = await ask(flagstaff.edge.asgi, "GET", path + end, query=query, token=ada.token)
        assert (status, length > least) == (200, True)
        assert holds.longest_in_units < LONGEST_UNITS, end


@pytest.mark.both_databases
async def test_a_thousand_rules_are_compared_and_copied_in_pieces(
    flagstaff: Flagstaff, ada: Caller, project: Json, environment: Json
) -> None:
    """All priorities differ, so each rule is deleted or created."""
    staging = await ada.get_environment(project, "staging")
    for place, sign in ((environment, 1), (staging, -1)):
        flag = make_flag(make_environment(UUID(project["id"]), id=UUID(place["id"])))
        rules = [make_rule(flag, rule_value=f"u{number}", priority=sign * number) for number in range(1, 1_001)]
        await store_all(flagstaff.database, flag, *rules)
    path = project_path(project)
    both = {"from": environment["id"], "to": staging["id"]}
    content = json.dumps({**both, "flag_keys": [flag.key], "parts": ["rules"], "dry_run": True}).encode()
    assert ada.token
    for method, asked, query, body in (
        ("GET", f"{path}/compare", urlencode(both), b""),
        ("POST", f"{path}/copy", "", content),
    ):
        async with watch_holds() as holds:
            status, length = await ask(flagstaff.edge.asgi, method, asked, token=ada.token, query=query, content=body)
        assert (status, length > 200_000) == (200, True)
        assert holds.longest_in_units < LONGEST_UNITS, asked


@pytest.mark.both_databases
async def test_the_answers_of_a_user_are_found_in_pieces(flagstaff: Flagstaff, ada: Caller, environment: Json) -> None:
    await store_flags(flagstaff, environment, 2_000)
    contexts = [{"user_id": "ada"}, {"custom_attributes": {f"x{number}": "y" * 90 for number in range(100)}}]
    assert ada.token
    for context in contexts:
        content = json.dumps({"context": context, "limit": 100, "search": "9"}).encode()
        path = f"{environment_path(environment)}/answers"
        await ask(flagstaff.edge.asgi, "POST", path, token=ada.token, content=content)  # compiles the statements
        async with watch_holds() as holds:
            status, _ = await ask(flagstaff.edge.asgi, "POST", path, token=ada.token, content=content)
        assert status == 200
        assert holds.longest_in_units < LONGEST_UNITS


@pytest.mark.both_databases
async def test_the_answers_of_many_users_are_found_in_pieces(
    flagstaff: Flagstaff, ada: Caller, project: Json, environment: Json
) -> None:
    await store_flags(flagstaff, environment, 2_000, rollout_percentage=20)
    users = [{"user_id": f"flag-{number}-1", "custom_attributes": {"plan": "y" * 900}} for number in range(200)]
    asked = {"environment_ids": [environment["id"]], "flag_keys": [f"flag-{number}" for number in range(100)]}
    assert ada.token
    async with watch_holds() as holds:
        status, _ = await ask(
            flagstaff.edge.asgi,
            "POST",
            f"{project_path(project)}/playground",
            token=ada.token,
            content=json.dumps({**asked, "users": users}).encode(),
        )
    assert status == 200
    assert holds.longest_in_units < LONGEST_UNITS


@pytest.mark.both_databases
async def test_an_impact_on_thousands_of_users_is_counted_in_pieces(
    flagstaff: Flagstaff, ada: Caller, environment: Json, clock: Clock
) -> None:
    flag = await ada.create_flag(environment, rollout_percentage=20)
    start = round(clock().timestamp()) * 1_000_000_000
    records = [(start + number, f"user-{number}", None, b"\x05\x64") for number in range(5_000)]
    await write(flagstaff.database, make_batch(UUID(environment["id"]), make_layout(), *records))
    content = json.dumps({"flag": {**flag, "rollout_percentage": 30}}).encode()
    assert ada.token

    async with watch_holds() as holds:
        status, _ = await ask(
            flagstaff.edge.asgi, "POST", f"{flag_path(flag)}/impact", token=ada.token, content=content
        )

    assert status == 200
    assert holds.longest_in_units < LONGEST_UNITS
    impact = (await ada.post(f"{flag_path(flag)}/impact", json=json.loads(content))).json()
    assert impact["users"] == 5_000
    assert 400 < impact["turned_on"] == impact["changed"] < 600


async def test_many_unknown_fields_are_refused_before_they_are_looked_at(
    flagstaff: Flagstaff, ada: Caller, project: Json
) -> None:
    assert ada.token
    content = json.dumps(UNKNOWN).encode()
    for method, path in (("POST", "/api/projects"), ("PUT", f"/api/projects/{project['id']}")):
        async with watch_holds() as holds:
            status, _ = await ask(flagstaff.edge.asgi, method, path, token=ada.token, content=content)
        assert status == 400
        assert holds.longest_in_units < LONGEST_UNITS
        answer = await ada.request(method, path, json=UNKNOWN)
        assert field_errors(answer) == {"body": "has 10000 fields; at most 40 are accepted"}


async def test_a_large_body_is_checked_decoded_and_validated_in_separate_steps(
    flagstaff: Flagstaff, ada: Caller, environment: Json
) -> None:
    attributes = {f"k{number}": {"a": [number]} for number in range(9_000)}
    content = json.dumps({"context": {"custom_attributes": attributes}}).encode()
    path = f"{environment_path(environment)}/explain"
    assert ada.token
    await ask(flagstaff.edge.asgi, "POST", path, token=ada.token, content=content)
    async with watch_holds() as holds:
        status, _ = await ask(flagstaff.edge.asgi, "POST", path, token=ada.token, content=content)
    assert status == 400
    # The names in objects are compared in Python, in one step: 7 ms for so many objects.
    assert holds.longest_in_units < 2 * LONGEST_UNITS


@pytest.mark.both_databases
async def test_a_whole_environment_with_conditions_and_variants_is_exported_in_pieces(
    flagstaff: Flagstaff, ada: Caller, environment: Json
) -> None:
    variants = tuple(Variant(key, 250, json.dumps({"text": "Buy now" * 20})) for key in "abcd")
    await store_flags(flagstaff, environment, 1_000, variants=variants, tags=("checkout", "beta"))
    path = f"{environment_path(environment)}/export"
    assert ada.token
    await ask(flagstaff.edge.asgi, "GET", path, token=ada.token)
    async with watch_holds() as holds:
        status, length = await ask(flagstaff.edge.asgi, "GET", path, token=ada.token)
    assert (status, length > 1_000_000) == (200, True)
    assert holds.longest_in_units < LONGEST_UNITS


async def test_the_layout_of_thousands_of_flags_with_conditions_is_stored_in_pieces(
    flagstaff: Flagstaff, environment: Json, clock: Clock
) -> None:
    start = round(clock().timestamp()) * 1_000_000_000
    deciders = tuple(Decider(Outcome.USER_ID_RULE, uuid4()) for _ in range(5))
    flags = [LayoutFlag(uuid4(), f"flag-{number}", 0, Outcome.ON, deciders) for number in range(5_000)]
    record = (start, "ada", None, bytes([101]) * 5_000)
    batch = make_batch(UUID(environment["id"]), make_layout(recorded=tuple(flags), constant=()), record)
    async with watch_holds() as holds:
        await write(flagstaff.database, batch)
    assert holds.longest_in_units < LONGEST_UNITS


async def test_a_long_unknown_field_is_not_compared_with_ours(ada: Caller, client: Caller, project: Json) -> None:
    name = "environmen" * 1_000

    answer = await ada.post("/api/projects", json={name: 1})
    evaluation = await client.post("/sdk/v1/evaluate", json={name: 1}, headers={"x-sdk-key": project["sdk_key"]})

    assert "did you mean" not in field_errors(answer)[name]
    assert "did you mean" not in field_errors(evaluation)[name]


async def test_the_description_of_the_api_is_read_once_and_sent_once(flagstaff: Flagstaff, client: Caller) -> None:
    async with watch_holds() as holds:
        await ask(flagstaff.edge.asgi, "GET", "/openapi.json")
    assert holds.longest_in_units < LONGEST_UNITS
    for path in ("/openapi.json", "/docs", "/docs/start.js"):
        first = await client.get(path)
        again = await client.get(path, headers={"if-none-match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == first.headers["etag"]
        other = await client.get(path, headers={"if-none-match": '"another"'})
        assert (other.status_code, other.content) == (200, first.content)


@pytest.mark.both_databases
async def test_figures_are_rendered_once_a_second(client: Caller) -> None:
    first = await client.get("/metrics")
    await client.get("/health")

    assert (await client.get("/metrics")).content == first.content


async def test_concurrent_callers_share_an_answer_or_a_refusal_for_a_second() -> None:
    now, asked = 100.0, 0

    async def fail() -> None:
        nonlocal asked
        asked += 1
        await asyncio.sleep(0)
        raise Error(Code.UNAVAILABLE, "away")

    shared = Shared(fail, clock=lambda: now)
    rejections = await asyncio.gather(*(shared() for _ in range(5)), return_exceptions=True)
    assert [str(each) for each in rejections] == ["away"] * 5
    assert asked == 1
    now += SHARED_SECONDS
    with pytest.raises(Error):
        await shared()
    assert asked == 2


async def test_an_invalid_token_is_refused_unread(client: Caller) -> None:
    for token in ("x" * 60_000, "W1tb" * 12_000 + ".e30.x", "eyJhbGciOiJub25lIn0.e30."):
        answer = await client.get("/api/me", headers={"authorization": f"Bearer {token}"})
        assert answer.status_code == 401


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_LOGIN_RATE_LIMIT": "2/minute"}])
async def test_malformed_json_counts_against_the_limit_before_it_is_read(call_from: Call) -> None:
    guesser = call_from("192.0.2.7")
    headers = {"content-type": "application/json"}

    answers = [await guesser.post("/auth/login", content=b"{" * 9_000, headers=headers) for _ in range(3)]

    assert [each.status_code for each in answers] == [400, 400, 429]


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_API_RATE_LIMIT": "3/minute"}])
async def test_each_account_has_its_own_limit_wherever_it_calls_from(
    ada: Caller, eve: Caller, client: Caller, call_from: Call
) -> None:
    elsewhere = call_from("198.51.100.1")
    elsewhere.headers["authorization"] = f"Bearer {ada.token}"
    answers = [await each.get("/api/me") for each in (ada, elsewhere, ada, elsewhere, ada)]

    assert [each.status_code for each in answers] == [200, 200, 200, 429, 429]
    assert 0 < int(answers[-1].headers["retry-after"]) <= 60
    assert (await eve.get("/api/me")).status_code == 200
    assert (await client.get("/api/me")).status_code == 401


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_API_RATE_LIMIT": "3/minute"}])
async def test_a_request_beyond_the_limit_of_its_account_costs_no_query(flagstaff: Flagstaff, ada: Caller) -> None:
    with reads(flagstaff.database) as queries:
        answers = [await ada.get("/api/me") for _ in range(3)]
    assert queries
    with reads(flagstaff.database) as queries:
        answers.append(await ada.get("/api/me"))

    assert [each.status_code for each in answers] == [200, 200, 200, 429]
    assert queries == []


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_API_RATE_LIMIT": "3/minute"}])
async def test_an_ended_token_does_not_use_up_the_limit_of_its_account(
    flagstaff: Flagstaff, ada: Caller, call_from: Call
) -> None:
    ended = await log_in(flagstaff, email=ada.account["email"], password=PASSWORD)
    await flagstaff.identity.sessions.log_out(ended)
    thief = call_from("198.51.100.1")
    thief.headers["authorization"] = f"Bearer {ended}"

    assert [(await thief.get("/api/me")).status_code for _ in range(5)] == [401] * 5
    assert (await ada.get("/api/me")).status_code == 200


class SlowReaders:
    """Clients that have requested a list and do not read the answer until `go_on` is set."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.began = asyncio.Semaphore(0)

    async def linger(self) -> None:
        self.began.release()
        await self.go_on.wait()

    async def start(self, flagstaff: Flagstaff, token: str, count: int) -> list[asyncio.Task[tuple[int, int]]]:
        """Start them, and wait until the answer to each has begun."""
        asking = [
            asyncio.create_task(ask(flagstaff.edge.asgi, "GET", "/api/projects", token=token, linger=self.linger))
            for _ in range(count)
        ]
        async with asyncio.timeout(30):
            for _ in asking:
                await self.began.acquire()
        return asking


@pytest.mark.both_databases
async def test_beyond_a_number_of_waiting_reads_an_account_is_refused(
    flagstaff: Flagstaff, ada: Caller, eve: Caller
) -> None:
    assert ada.token
    readers = SlowReaders()
    slow = await readers.start(flagstaff, ada.token, AT_ONCE)
    waiting = [asyncio.create_task(ada.get("/api/me")) for _ in range(WAITING + 1)]
    done, _ = await asyncio.wait(waiting, timeout=30, return_when=asyncio.FIRST_COMPLETED)
    (refused,) = (each.result() for each in done)

    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
    assert (await eve.get("/api/projects")).status_code == 200
    readers.go_on.set()
    assert sorted([each.status_code for each in await asyncio.gather(*waiting)]) == [200] * WAITING + [429]
    assert [status for status, _ in await asyncio.gather(*slow)] == [200] * AT_ONCE


@pytest.mark.both_databases
async def test_a_toggle_does_not_wait_for_slow_readers_of_its_account(flagstaff: Flagstaff, ada: Caller) -> None:
    assert ada.token
    flag = await ada.create_flag()
    readers = SlowReaders()
    slow = await readers.start(flagstaff, ada.token, AT_ONCE)
    waiting = asyncio.create_task(ada.get("/api/me"))

    async with asyncio.timeout(30):
        toggled = await ada.post(f"{flag_path(flag)}/toggle")

    assert (toggled.status_code, toggled.json()["enabled"]) == (200, False)
    assert not waiting.done()
    readers.go_on.set()
    assert [status for status, _ in await asyncio.gather(*slow)] == [200] * AT_ONCE
    assert (await waiting).status_code == 200


@pytest.mark.both_databases
async def test_an_explanation_takes_the_slot_of_a_read_until_it_is_sent_and_another_one_waits(
    flagstaff: Flagstaff, ada: Caller, eve: Caller
) -> None:
    assert ada.token
    flag = await ada.create_flag()
    readers = SlowReaders()
    path = f"/api/projects/{flag['project_id']}/environments/{flag['environment_id']}/explain"
    slow = [asyncio.create_task(ask(flagstaff.edge.asgi, "POST", path, token=ada.token, linger=readers.linger))]
    async with asyncio.timeout(30):
        await readers.began.acquire()
        another = asyncio.create_task(ada.post(path, json={}))
        slow += await readers.start(flagstaff, ada.token, AT_ONCE - LONG_AT_ONCE)
        theirs = await eve.create_flag()
        assert (await eve.post(path.replace(flag["project_id"], theirs["project_id"]), json={})).status_code == 404
        toggled = await ada.post(f"{flag_path(flag)}/toggle")
    waiting = asyncio.create_task(ada.get("/api/me"))
    await asyncio.sleep(0)

    assert toggled.status_code == 200
    assert not waiting.done()
    assert not another.done()
    readers.go_on.set()
    await asyncio.gather(*slow)
    assert (await waiting).status_code == 200
    assert (await another).status_code == 200


@pytest.mark.both_databases
async def test_a_toggle_waits_neither_for_stalled_bodies_nor_for_unread_answers_of_its_account(
    flagstaff: Flagstaff, ada: Caller
) -> None:
    assert ada.token
    flag = await ada.create_flag()
    go_on = asyncio.Event()

    async def stalling() -> AsyncIterator[bytes]:
        await go_on.wait()
        yield b'{"name": "Late"}'

    headers = {"content-type": "application/json"}
    stalled = [asyncio.create_task(ada.post("/api/projects", content=stalling(), headers=headers)) for _ in range(9)]
    toggle = f"{flag_path(flag)}/toggle"
    unread = [
        asyncio.create_task(ask(flagstaff.edge.asgi, "POST", toggle, token=ada.token, linger=go_on.wait))
        for _ in range(AT_ONCE)
    ]
    async with asyncio.timeout(30):
        for _ in range(AT_ONCE):
            assert (await ada.post(toggle)).status_code == 200
        assert (await ada.get("/api/me")).status_code == 200

    assert not any(each.done() for each in (*stalled, *unread))
    go_on.set()
    assert [each.status_code for each in await asyncio.gather(*stalled)] == [201] * 9
    assert [status for status, _ in await asyncio.gather(*unread)] == [200] * AT_ONCE


@pytest.mark.parametrize(
    ("method", "path", "kib"),
    [
        ("POST", "/auth/login", 16),
        ("POST", "/auth/register", 16),
        ("POST", "/api/projects", 128),
        ("POST", "/api/projects/x/environments", 16),
        ("POST", "/api/projects/x/environments/y/flags", 128),
        ("POST", "/api/projects/x/playground", 256),
        ("POST", "/api/projects/x/environments/y/answers", 256),
        ("POST", "/api/projects/x/environments/y/explain", 512),
        ("POST", "/api/projects/x/environments/y/flags/z/impact", 512),
        ("PUT", "/api/projects/x/environments/y/flags/z", 128),
        ("POST", "/api/projects/x/environments/y/flags/z/rules", 512),
        ("POST", "/api/projects/x/segments", 512),
        ("POST", "/sdk/v1/evaluate", 256),
    ],
)
async def test_each_operation_has_a_bound_on_bodies(ada: Caller, method: str, path: str, kib: int) -> None:
    headers = {"content-type": "application/json"}
    allowed = await ada.request(method, path, content=b" " * kib * 1024, headers=headers)
    refused = await ada.request(method, path, content=b" " * (kib * 1024 + 1), headers=headers)

    assert allowed.status_code in (400, 401, 404, 405)
    assert refused.status_code == 413
    assert f"{kib} KiB" in refused.json()["detail"]


async def test_the_longest_values_fit_however_they_are_spelt(ada: Caller, client: Caller) -> None:
    longest = "\U0001f6a9"  # twelve bytes in JSON's ASCII
    flag = await ada.create_flag(name=longest * 255, description=longest * 10_000)
    await ada.create_rule(flag, rule_value=longest * 1_024)
    answer = await client.post("/auth/register", json={"email": "x@example.com", "password": longest * 1_024})
    assert answer.status_code == 201
