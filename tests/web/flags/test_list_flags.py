"""GET …/flags."""

from tests.support.api import Caller, Json, environment_path
from tests.web.flags.conftest import Elsewhere


async def test_it_needs_a_token(client: Caller, environment: Json) -> None:
    assert (await client.get(f"{environment_path(environment)}/flags")).status_code == 401


async def test_an_environment_that_is_not_there_or_not_yours_is_not_found(
    environments_elsewhere: list[Elsewhere], flag: Json
) -> None:
    for why, caller, path in environments_elsewhere:
        assert (await caller.get(path)).status_code == 404, why


async def test_an_environment_without_flags_is_an_empty_array(ada: Caller, environment: Json) -> None:
    answer = await ada.get(f"{environment_path(environment)}/flags")
    assert (answer.status_code, answer.json()) == (200, [])


async def test_all_flags_of_this_environment_come_whole_and_newest_first(ada: Caller, environment: Json) -> None:
    flags = [await ada.create_flag(environment, key=f"flag-{number}") for number in range(12)]
    staging = await ada.get_environment({"id": environment["project_id"]}, "staging")
    await ada.create_flag(staging, key="elsewhere")
    assert (await ada.get(f"{environment_path(environment)}/flags")).json() == flags[::-1]
