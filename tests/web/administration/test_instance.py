"""/api/admin/instance and /api/admin/settings."""

import pytest

from flagstaff import __version__
from tests.support.api import Caller, field_errors
from tests.support.sessions import PASSWORD
from tests.support.stores import Store

pytestmark = pytest.mark.both_databases

PATH = "/api/admin/settings"
NOT_DEMANDED = {"demands_second_factor": False, "demands_second_factor_is_default": True}


async def register(client: Caller, name: str) -> int:
    body = {"email": f"{name}@example.com", "password": PASSWORD}
    return (await client.post("/auth/register", json=body)).status_code


async def test_invalid_settings_are_refused(root: Caller) -> None:
    for body, field in (
        ({"registration": "ajar"}, "registration"),
        ({"registration": True}, "registration"),
        ({"registrations": "open"}, "registrations"),
        ({"demands_second_factor": "on", "registration": "closed"}, "demands_second_factor"),
        ({"demands_second_factor": 1}, "demands_second_factor"),
    ):
        assert list(field_errors(await root.put(PATH, json=body))) == [field]
    assert (await root.get(PATH)).json() == {"registration": "open", "is_default": True, **NOT_DEMANDED}


@pytest.mark.parametrize("environ", [{}, {"FLAGSTAFF_REGISTRATION": "closed"}], ids=["open", "closed"])
async def test_registration_is_opened_and_closed_while_the_instance_runs(
    root: Caller, client: Caller, environ: dict[str, str]
) -> None:
    default = environ.get("FLAGSTAFF_REGISTRATION", "open")
    for number, (given, expected) in enumerate(
        (("closed", "closed"), ("open", "open"), ("closed", "closed"), (None, default))
    ):
        answer = await root.put(PATH, json={"registration": given})
        assert answer.json() == {"registration": expected, "is_default": given is None, **NOT_DEMANDED}
        back = answer.json() | {"registration": given, "demands_second_factor": None}
        assert (await root.put(PATH, json=back)).json() == answer.json()
        assert await register(client, f"number-{number}") == (201 if expected == "open" else 403)
    assert (await root.put(PATH, json={})).json() == {"registration": default, "is_default": True, **NOT_DEMANDED}
    items = (await root.get("/api/admin/changes")).json()["items"]
    updates = [each for each in items if each["action"] == "instance.updated"]
    assert len(updates) == 4
    assert updates[-1]["before"] == {"registration": default, "is_default": True, **NOT_DEMANDED}
    assert updates[-1]["actor"]["email"] == "root@example.com"


async def test_the_overview_has_figures_quotas_and_health(root: Caller, eve: Caller, store: Store) -> None:
    await eve.create_project()
    found = (await root.get("/api/admin/instance")).json()
    assert (found["version"], found["accounts"], found["projects"]) == (__version__, 2, 1)
    assert (found["active_accounts"], found["sessions"]) == (2, 2)
    assert found["database"] == ("postgresql" if store.database_url else "sqlite")
    assert found["quotas"]["FLAGSTAFF_MAX_PROJECTS_PER_ACCOUNT"] == 1000
    assert (found["ready"], found["problem"]) == (True, None)
    assert found["tasks"]["last-seen"] is True
