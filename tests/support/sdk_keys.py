"""SDK keys of environments, created without the management API."""

from datetime import datetime
from uuid import UUID

from flagstaff.bootstrap import Flagstaff
from flagstaff.domain.changes import Actor
from flagstaff.domain.sdk_keys import KeyKind
from flagstaff.services.sdk_keys import WantedKey
from tests.support.api import Caller, Json


class KeyMaker:
    """Creates and revokes keys for a person."""

    def __init__(self, flagstaff: Flagstaff, person: Caller) -> None:
        self._keys = flagstaff._managed_keys
        self._actor = Actor(UUID(person.account["id"]), person.account["email"])

    async def create(self, environment: Json, kind: str = "server", expires_at: datetime | None = None) -> str:
        """The text of a new key of an environment."""
        wanted = WantedKey("Shop", environment["key"], KeyKind(kind), expires_at)
        _, text = await self._keys.create_key(self._actor, UUID(environment["project_id"]), wanted)
        return text

    async def revoke_all(self, project: Json) -> None:
        """Revoke every key of a project."""
        project_id = UUID(project["id"])
        for key in await self._keys.list_keys(self._actor, project_id):
            await self._keys.revoke_key(self._actor, project_id, key.id)
