"""The instance as its administrators see it, and its settings that are changed while it runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from flagstaff.domain.changes import Actor, Scope, change_of
from flagstaff.domain.instance import InstanceSettings
from flagstaff.services.access import hold_administrators, require_administrator
from flagstaff.storage import instance
from flagstaff.storage.changes import record
from flagstaff.storage.database import Connection, Database
from flagstaff.storage.instance import Counts

_REGISTRATION = "registration"


@dataclass(frozen=True, slots=True)
class Overview:
    """How much the instance has, the quotas by the settings' names, and the name of the database."""

    counts: Counts
    database: str
    quotas: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Instance:
    """The use cases of the instance. A setting that an administrator has changed wins over its environment variable."""

    database: Database
    now: Callable[[], datetime]
    default_registration: Literal["open", "closed"]
    quotas: Mapping[str, int]

    async def is_registration_open(self) -> bool:
        """Whether anyone may create an account at the moment; the same on every instance."""
        async with self.database.read() as connection:
            return await self.is_registration_open_within(connection)

    async def is_registration_open_within(self, connection: Connection) -> bool:
        """The same on a connection of the caller."""
        return (await self._read(connection)).registration == "open"

    async def get_settings(self, actor: Actor) -> InstanceSettings:
        """The settings; raises Error FORBIDDEN."""
        async with self.database.read() as connection:
            await require_administrator(connection, actor)
            return await self._read(connection)

    async def update_settings(self, actor: Actor, **values: str | None) -> InstanceSettings:
        """Update `registration` if given; None follows the environment variable again. Raises Error FORBIDDEN."""
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            await hold_administrators(connection, actor)  # also serializes changes of the settings
            before = await self._read(connection)
            for name, value in values.items():
                await instance.save_setting(connection, name, value)
            after = await self._read(connection)
            if after != before:
                change = change_of(actor, "instance.updated", self.now(), Scope(), before=before, after=after)
                await record(transaction, change)
            return after

    async def get_overview(self, actor: Actor) -> Overview:
        """The overview; raises Error FORBIDDEN."""
        async with self.database.read() as connection:
            await require_administrator(connection, actor)
            counts = await instance.count_all(connection, self.now())
            return Overview(counts, connection.dialect.name, self.quotas)

    async def _read(self, connection: Connection) -> InstanceSettings:
        chosen = await instance.find_setting(connection, _REGISTRATION)
        return InstanceSettings(chosen or self.default_registration, is_default=chosen is None)
