"""POST /unleash/edge/validate: which keys of an Edge are valid."""

import pytest

from tests.support.api import Caller, Json
from tests.support.sdk_keys import KeyMaker

PATH = "/unleash/edge/validate"


@pytest.mark.parametrize("body", [{}, [], {"tokens": "x"}, {"tokens": [1]}, {"tokens": ["x"] * 101}])
async def test_other_bodies_are_refused(client: Caller, body: object) -> None:
    assert (await client.post(PATH, json=body)).status_code == 400


@pytest.mark.parametrize("path", [PATH, "/unleash/api/edge/validate"])
async def test_valid_keys_are_named_with_what_they_are_for(
    client: Caller, keys: KeyMaker, environment: Json, project: Json, path: str
) -> None:
    server, browser = await keys.create(environment), await keys.create(environment, kind="browser")
    tokens = [server, "nonsense", browser, project["sdk_key"]]
    response = await client.post(path, json={"tokens": tokens})
    assert response.status_code == 200
    place = {"projects": [project["id"].replace("-", "")], "environment": "production"}
    assert response.json() == {
        "tokens": [{"token": server, "type": "client", **place}, {"token": browser, "type": "frontend", **place}]
    }


async def test_a_revoked_key_is_not_valid(client: Caller, keys: KeyMaker, environment: Json, project: Json) -> None:
    key = await keys.create(environment)
    await keys.revoke_all(project)
    assert (await client.post(PATH, json={"tokens": [key]})).json() == {"tokens": []}
