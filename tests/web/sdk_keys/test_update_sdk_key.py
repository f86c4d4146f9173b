"""Updates of SDK keys: their names, and the origins of the pages that may use a browser's key."""

from uuid import uuid4

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, Json, created, field_errors
from tests.support.members import join
from tests.support.sdk_keys import create_key, keys_path
from tests.web.conftest import ListChanges

SHOP, PREVIEWS = "https://shop.example.com", "https://*.preview.example.com"
NEW = {"name": "Shop", "environment": "production", "kind": "browser"}
OF_A_SERVER = {
    "allowed_origins": "must be empty for a key of the kind server, which pages must not have; use a key of the kind "
    "browser"
}
MALFORMED: list[tuple[object, dict[str, str]]] = [
    (SHOP, {"allowed_origins": "must be a list"}),
    ({"0": SHOP}, {"allowed_origins": "must be a list"}),
    ([None], {"allowed_origins.0": "must be a string"}),
    ([SHOP, "*"], {"allowed_origins.1": "must not be '*'; leave the list empty to allow pages of every origin"}),
    ([f"{SHOP}/"], {"allowed_origins.0": f"must not have a path; write {SHOP}"}),
    (["https://Shop.example.com"], {"allowed_origins.0": f"must be written as browsers send it: {SHOP}"}),
    ([SHOP, SHOP], {"allowed_origins": "must not have an origin twice"}),
    ([f"https://shop{number}.example.com" for number in range(51)], {"allowed_origins": "must have at most 50 items"}),
]


async def trail(list_changes: ListChanges) -> list[tuple[str, list[str] | None, list[str] | None]]:
    """The actions on keys, each with the origins before and after it."""
    return [
        (row["action"], *(each and each["allowed_origins"] for each in (row["before"], row["after"])))
        for row in await list_changes()
        if row["action"].startswith("sdk_key.")
    ]


async def test_malformed_origins_are_refused_and_the_message_says_what_to_write(ada: Caller, project: Json) -> None:
    key = await create_key(ada, project, kind="browser", allowed_origins=[SHOP])
    for given, errors in MALFORMED:
        body = {"allowed_origins": given}
        assert field_errors(await ada.post(keys_path(project), json={**NEW, **body})) == errors, given
        assert field_errors(await ada.put(f"{keys_path(project)}/{key['id']}", json=body)) == errors, given
    refused = await ada.put(f"{keys_path(project)}/{key['id']}", json={"allowed_origins": None})
    assert field_errors(refused) == {"allowed_origins": "must be a list"}
    refused = await ada.put(f"{keys_path(project)}/{key['id']}", json={"origins": [SHOP]})
    assert list(field_errors(refused)) == ["origins"]
    (listed,) = (await ada.get(keys_path(project))).json()
    assert listed["allowed_origins"] == [SHOP]


async def test_a_servers_key_has_no_origins(ada: Caller, project: Json) -> None:
    refused = await ada.post(keys_path(project), json={**NEW, "kind": "server", "allowed_origins": [SHOP]})
    assert field_errors(refused) == OF_A_SERVER
    key = await create_key(ada, project, allowed_origins=[])
    path = f"{keys_path(project)}/{key['id']}"
    assert field_errors(await ada.put(path, json={"allowed_origins": [SHOP]})) == OF_A_SERVER
    assert (await ada.put(path, json={"allowed_origins": [], "name": "Checkout"})).json()["name"] == "Checkout"


async def test_only_those_who_may_rotate_a_key_update_it(
    flagstaff: Flagstaff, client: Caller, ada: Caller, eve: Caller, project: Json
) -> None:
    key = await create_key(ada, project, kind="browser")
    path, body = f"{keys_path(project)}/{key['id']}", {"allowed_origins": [SHOP]}
    assert (await client.put(path, json=body)).status_code == 401
    assert (await eve.put(path, json=body)).status_code == 404
    assert (await ada.put(f"{keys_path(project)}/{uuid4()}", json=body)).status_code == 404
    await join(flagstaff, project, eve, "admin", {"production": "editor"})
    refused = await eve.put(path, json=body)
    assert (refused.status_code, refused.json()["permission"]) == (403, "keys:rotate")
    assert (await ada.get(path)).json()["allowed_origins"] == []


async def test_the_list_is_stored_shown_changed_and_recorded(
    ada: Caller, project: Json, list_changes: ListChanges
) -> None:
    made = created(await ada.post(keys_path(project), json={**NEW, "allowed_origins": [SHOP, PREVIEWS]}))
    path = f"{keys_path(project)}/{made['id']}"
    assert made.pop("key")
    assert made["allowed_origins"] == [SHOP, PREVIEWS]
    read = await ada.get(path)
    assert read.json() == made
    changed = await ada.put(path, json={**made, "allowed_origins": [PREVIEWS]})
    assert (changed.status_code, changed.json()) == (200, {**made, "allowed_origins": [PREVIEWS]})
    assert int(changed.headers["flagstaff-revision"]) > 0
    assert changed.headers["etag"] != read.headers["etag"]
    assert (
        await ada.put(path, json={"allowed_origins": []}, headers={"if-match": read.headers["etag"]})
    ).status_code == 412
    assert (await ada.put(path, json=changed.json(), headers={"if-match": changed.headers["etag"]})).status_code == 200
    assert (await ada.put(path, json={"name": "Shop 2"})).json() == {**changed.json(), "name": "Shop 2"}
    assert (await ada.put(path, json={"allowed_origins": []})).json()["allowed_origins"] == []
    assert [each["allowed_origins"] for each in (await ada.get(keys_path(project))).json()] == [[]]
    assert (await ada.delete(path)).status_code == 204
    assert await trail(list_changes) == [
        ("sdk_key.created", None, [SHOP, PREVIEWS]),
        ("sdk_key.updated", [SHOP, PREVIEWS], [PREVIEWS]),
        ("sdk_key.updated", [PREVIEWS], [PREVIEWS]),  # of the name
        ("sdk_key.updated", [PREVIEWS], []),
        ("sdk_key.revoked", [], None),
    ]


async def test_a_key_that_replaces_another_has_its_origins_unless_it_is_given_others(
    ada: Caller, project: Json
) -> None:
    old = await create_key(ada, project, kind="browser", allowed_origins=[SHOP])
    for given, expected in (
        ({}, [SHOP]),
        ({"allowed_origins": None}, [SHOP]),
        ({"allowed_origins": []}, []),
        ({"allowed_origins": [PREVIEWS]}, [PREVIEWS]),
        ({"kind": "server"}, []),
    ):
        new = await create_key(ada, project, **{"kind": "browser", "replaces": old["id"], **given})
        assert new["allowed_origins"] == expected, given
