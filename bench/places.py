"""Accounts of the bench, each with a project whose flags are written directly to the database."""

import asyncio
from dataclasses import dataclass, replace
from uuid import UUID

import httpx

from bench.flag_sets import make_mixed_set
from flagstaff.database.database import Database
from flagstaff.flags.flags import Flag, Rule
from tests.support.builders import make_flag, store_all
from tests.support.stores import Store

PASSWORD = "a password for the bench"


@dataclass(frozen=True)
class Place:
    """An account's project and its `production`."""

    token: str
    path: str
    environment_id: UUID
    project_id: UUID
    sdk_key: str

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the account's requests."""
        return {"authorization": f"Bearer {self.token}"}


def make_place(client: httpx.Client, store: Store, name: str, size: int, *, description: str | None = None) -> Place:
    """An account with a project, whose `production` gets the mixed set of flags."""
    account = {"email": f"{name}@example.com", "password": PASSWORD}
    client.post("/auth/register", json=account).raise_for_status()
    token = client.post("/auth/login", json=account).json()["token"]
    headers = {"authorization": f"Bearer {token}"}
    project = client.post("/api/projects", json={"name": name}, headers=headers).json()
    at = f"/api/projects/{project['id']}/environments"
    environments = client.get(at, headers=headers).json()
    (production,) = (each for each in environments if each["key"] == "production")
    place = Place(token, f"{at}/{production['id']}", UUID(production["id"]), UUID(project["id"]), project["sdk_key"])
    asyncio.run(_store_flags(store, place, size, description))
    return place


def make_key(client: httpx.Client, place: Place, kind: str) -> str:
    """An SDK key of the place's `production`."""
    body = {"name": kind, "environment": "production", "kind": kind}
    path = f"/api/projects/{place.project_id}/sdk-keys"
    made: str = client.post(path, json=body, headers=place.headers).raise_for_status().json()["key"]
    return made


async def _store_flags(store: Store, place: Place, size: int, description: str | None) -> None:
    """Write flags directly to the database, before the server has loaded the environment."""
    made = make_mixed_set(size)
    environment = replace(made.environment, id=place.environment_id, project_id=place.project_id)
    flags: list[Flag] = []
    rules: list[Rule] = []
    for targeted in made.flags:
        values = {name: getattr(targeted.flag, name) for name in ("key", "enabled", "rollout_percentage")}
        flags.append(make_flag(environment, id=targeted.flag.id, description=description, **values))
        rules.extend(targeted.rules)
    database = Database(store.database_url, store.data_directory)
    try:
        await store_all(database, *flags, *rules)
    finally:
        await database.close()
