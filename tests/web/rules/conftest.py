"""A rule, and paths where it must not be found."""

from uuid import uuid4

import pytest

from tests.support.api import Caller, Json, flag_path
from tests.web.flags.conftest import Elsewhere


@pytest.fixture
async def flag(ada: Caller) -> Json:
    """A flag of Ada's."""
    return await ada.create_flag()


@pytest.fixture
async def rules_path(flag: Json) -> str:
    """The path of the flag's rules."""
    return f"{flag_path(flag)}/rules"


@pytest.fixture
async def rule(ada: Caller, flag: Json) -> Json:
    """A rule of it."""
    return await ada.create_rule(flag, rule_type="email_domain", rule_value="@acme.com", priority=7)


@pytest.fixture
async def rule_path(rules_path: str, rule: Json) -> str:
    """The path of the rule."""
    return f"{rules_path}/{rule['id']}"


@pytest.fixture
async def flags_elsewhere(ada: Caller, eve: Caller, flag: Json) -> list[Elsewhere]:
    """Return paths where the flag's rules are not found."""
    staging = await ada.get_environment({"id": flag["project_id"]}, "staging")
    other = await ada.create_project()
    return [
        Elsewhere("another account's", eve, f"{flag_path(flag)}/rules"),
        Elsewhere("another environment", ada, f"{flag_path({**flag, 'environment_id': staging['id']})}/rules"),
        Elsewhere("another project", ada, f"{flag_path({**flag, 'project_id': other['id']})}/rules"),
        Elsewhere("no such flag", ada, f"{flag_path({**flag, 'id': uuid4()})}/rules"),
        Elsewhere("no UUID", ada, f"{flag_path({**flag, 'id': flag['key']})}/rules"),
    ]


@pytest.fixture
async def elsewhere(ada: Caller, flag: Json, rule: Json, flags_elsewhere: list[Elsewhere]) -> list[Elsewhere]:
    """Return paths where the rule is not found."""
    sibling = await ada.create_flag({"id": flag["environment_id"], "project_id": flag["project_id"]}, key="sibling")
    return [
        *(each._replace(path=f"{each.path}/{rule['id']}") for each in flags_elsewhere),
        Elsewhere("under another flag", ada, f"{flag_path(sibling)}/rules/{rule['id']}"),
        Elsewhere("no such rule", ada, f"{flag_path(flag)}/rules/{uuid4()}"),
        Elsewhere("no UUID as rule", ada, f"{flag_path(flag)}/rules/first"),
    ]
