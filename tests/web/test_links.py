"""GET and POST …/links, DELETE …/links/{link_id}."""

from tests.support.api import Caller, Json, project_path


async def test_a_link_is_added_listed_and_deleted(client: Caller, ada: Caller, eve: Caller, project: Json) -> None:
    links = f"{project_path(project)}/links"
    for caller, status in ((client, 401), (eve, 404)):
        assert (await caller.get(links)).status_code == status
    made = await ada.post(links, json={"name": "Runbook", "address": "https://example.com/runbook"})
    assert made.status_code == 201
    assert (await ada.get(links)).json() == [made.json()]
    assert (await ada.delete(f"{links}/{made.json()['id']}")).status_code == 204
    assert (await ada.get(links)).json() == []
    changes = (await ada.get(f"{project_path(project)}/changes?resource=link")).json()["items"]
    assert [each["action"] for each in changes] == ["link.deleted", "link.created"]
