"""The instance as its administrators see it, and its settings that are changed while it runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from flagstaff.changes.changes import Actor, Authenticated, Scope, change_of
from flagstaff.database.changes_store import record
from flagstaff.database.database import Connection, Database
from flagstaff.database.preconditions import ANY_STATE, Precondition
from flagstaff.identity.administration import instance_store
from flagstaff.identity.administration.instance import InstanceSettings
from flagstaff.identity.administration.instance_store import Counts
from flagstaff.identity.administration.rights import hold_administrators, require_administrator
from flagstaff.identity.second_factors.second_factors_store import DEMAND_SETTING, has_second_factor
from flagstaff.values.errors import enrolment_required

_REGISTRATION = "registration"
_ON, _OFF = "on", "off"


@dataclass(frozen=True, slots=True)
class Overview:
    """The size of the instance, the quotas by the settings' names, and the name of the database."""

    counts: Counts
    database: str
    quotas: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Instance:
    """The use cases of the instance. A setting that an administrator has changed wins over its environment variable."""

    database: Database
    now: Callable[[], datetime]
    default_registration: Literal["open", "closed"]
    default_demand: bool
    quotas: Mapping[str, int]

    async def is_registration_open(self) -> bool:
        """Return whether anyone may create an account at the moment; the same on every instance."""
        async with self.database.read() as connection:
            return await self.is_registration_open_within(connection)

    async def is_registration_open_within(self, connection: Connection) -> bool:
        """The same on a connection of the caller."""
        return (await self._read(connection)).registration == "open"

    async def require_second_factor(self, authenticated: Authenticated) -> None:
        """Raise Error MFA_ENROLMENT_REQUIRED if the instance demands a second factor that the actor does not have."""
        if self._demands(authenticated.demand):
            async with self.database.read() as connection:
                await _require_second_factor(connection, authenticated.actor)

    async def get_settings(self, actor: Actor) -> InstanceSettings:
        """The settings; raises Error FORBIDDEN."""
        async with self.database.read() as connection:
            await require_administrator(connection, actor)
            return await self._read(connection)

    async def update_settings(
        self, actor: Actor, precondition: Precondition[InstanceSettings] = ANY_STATE, **values: str | bool | None
    ) -> InstanceSettings:
        """Update `registration` and `demands_second_factor` if given; None follows the environment variable again.

        Raises:
            Error: FORBIDDEN; MFA_ENROLMENT_REQUIRED if the actor demands a second factor without having one.
        """
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            await hold_administrators(connection, actor)  # also serializes changes of the settings
            before = await self._read(connection)
            await precondition.require(connection, before, before.id, None)
            for name, value in values.items():
                stored = (_ON if value else _OFF) if isinstance(value, bool) else value
                await instance_store.save_setting(connection, name, stored)
            after = await self._read(connection)
            if after.demands_second_factor and DEMAND_SETTING in values:
                await _require_second_factor(connection, actor)  # so that nobody locks themselves out
            if after != before:
                change = change_of(actor, "instance.updated", self.now(), Scope(), before=before, after=after)
                await record(transaction, change)
            return after

    async def get_overview(self, actor: Actor) -> Overview:
        """The overview; raises Error FORBIDDEN."""
        async with self.database.read() as connection:
            await require_administrator(connection, actor)
            counts = await instance_store.count_all(connection, self.now())
            return Overview(counts, connection.dialect.name, self.quotas)

    async def _read(self, connection: Connection) -> InstanceSettings:
        registration = await instance_store.find_setting(connection, _REGISTRATION)
        demand = await instance_store.find_setting(connection, DEMAND_SETTING)
        return InstanceSettings(
            registration or self.default_registration,
            is_default=registration is None,
            demands_second_factor=self._demands(demand),
            demands_second_factor_is_default=demand is None,
        )

    def _demands(self, chosen: str | None) -> bool:
        return self.default_demand if chosen is None else chosen == _ON


async def _require_second_factor(connection: Connection, actor: Actor) -> None:
    assert actor.account_id is not None
    if not await has_second_factor(connection, actor.account_id):
        raise enrolment_required("This server")
