"""GET …/environments/{env_id}/evaluations/{evaluation_id}."""

from uuid import uuid4

from tests.support.api import Caller, Json, environment_path, flag_path
from tests.web.history.conftest import Elsewhere, Evaluate


async def newest(ada: Caller, environment: Json) -> Json:
    found: Json = (await ada.get(f"{environment_path(environment)}/evaluations")).json()["items"][0]
    return found


async def test_it_needs_a_token(client: Caller, environment: Json) -> None:
    assert (await client.get(f"{environment_path(environment)}/evaluations/{uuid4()}")).status_code == 401


async def test_an_environment_that_is_not_there_or_not_yours_is_not_found(
    ada: Caller, environment: Json, flag: Json, evaluate: Evaluate, elsewhere: Elsewhere
) -> None:
    await evaluate("ada")
    found = await newest(ada, environment)
    for caller, path in elsewhere:
        assert (await caller.get(f"{path}/evaluations/{found['id']}")).status_code == 404


async def test_an_evaluation_that_is_not_there_is_not_found(
    ada: Caller, project: Json, environment: Json, flag: Json, evaluate: Evaluate
) -> None:
    path = f"{environment_path(environment)}/evaluations"
    assert (await ada.get(f"{path}/{uuid4()}")).status_code == 404  # nothing has been recorded at all
    await evaluate("ada")
    found = await newest(ada, environment)
    staging = await ada.get_environment(project, "staging")
    after = f"{int(found['id'].replace('-', ''), 16) + 1:032x}"
    later = f"{after[:8]}-{after[8:12]}-{after[12:16]}-{after[16:20]}-{after[20:]}"
    nobody, everything = "0" * 8 + "-0000-0000-0000-" + "0" * 12, "f" * 8 + "-ffff-ffff-ffff-" + "f" * 12
    for wrong in (later, nobody, everything, flag["id"], "newest", found["id"].replace("-", "")):
        assert (await ada.get(f"{path}/{wrong}")).status_code == 404, wrong
    assert (await ada.get(f"{environment_path(staging)}/evaluations/{found['id']}")).status_code == 404


async def test_it_is_what_the_list_shows_and_stays_so_after_later_evaluations_and_changes(
    ada: Caller, environment: Json, flag: Json, evaluate: Evaluate
) -> None:
    await evaluate("ada", user_email="ada@example.com")
    found = await newest(ada, environment)
    assert (await ada.put(flag_path(flag), json={"rollout_percentage": 25})).status_code == 200
    await evaluate("bob", "carol")
    assert (await ada.delete(flag_path(flag))).status_code == 204
    answer = await ada.get(f"{environment_path(environment)}/evaluations/{found['id']}")
    assert (answer.status_code, answer.json()) == (200, found)
