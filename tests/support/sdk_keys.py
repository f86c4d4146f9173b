"""SDK keys of environments."""

from datetime import datetime
from typing import Any
from uuid import UUID

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.changes.changes import Actor
from flagstaff.projects.sdk_keys import KeyKind
from flagstaff.projects.sdk_keys_service import WantedKey
from tests.support.api import Caller, Json, created, project_path


class KeyMaker:
    """Creates and revokes keys for a person, without the API."""

    def __init__(self, flagstaff: Flagstaff, person: Caller) -> None:
        self._keys = flagstaff.sdk_keys
        self._actor = Actor(UUID(person.account["id"]), person.account["email"])

    async def create(self, environment: Json, kind: str = "server", expires_at: datetime | None = None) -> str:
        """Create a key of an environment; return its text."""
        wanted = WantedKey("Shop", environment["key"], KeyKind(kind), expires_at)
        _, text = await self._keys.create_key(self._actor, UUID(environment["project_id"]), wanted)
        return text

    async def revoke_all(self, project: Json) -> None:
        """Revoke every key of a project."""
        project_id = UUID(project["id"])
        for key in await self._keys.list_keys(self._actor, project_id):
            await self._keys.revoke_key(self._actor, project_id, key.id)


def keys_path(project: Json) -> str:
    """The path of a project's SDK keys."""
    return f"{project_path(project)}/sdk-keys"


async def create_key(caller: Caller, project: Json, **values: Any) -> Json:
    """A new server's key of `production`, over the API; its text is `key`."""
    body = {"name": "x", "environment": "production", "kind": "server", **values}
    return created(await caller.post(keys_path(project), json=body))
