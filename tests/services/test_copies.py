"""Copies are planned outside of the transaction that writes them, for which others wait."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa

from flagstaff.changes.changes import Actor, Scope, change_of
from flagstaff.copying.copies import Alteration, Part
from flagstaff.copying.copies_service import Copied, Copies
from flagstaff.copying.copy_plans import CopiedFlag, Wanted
from flagstaff.copying.copy_quotas import CopyQuotas
from flagstaff.database.changes_store import record
from flagstaff.database.database import Connection, Database
from flagstaff.flags import flags_store
from flagstaff.flags.access import FlagPath
from flagstaff.flags.condition_work_budgets import WorkBudgets
from flagstaff.flags.flags import Flag
from flagstaff.flags.flags_service import Flags
from flagstaff.flags.targeting.rules_service import Rules
from flagstaff.projects.projects import Environment
from flagstaff.settings import Settings
from flagstaff.values.errors import Code, Error
from tests.support.builders import make_account, make_environment, make_flag, make_project, store_all


@dataclass(frozen=True)
class MeanwhileQuotas(CopyQuotas):
    """Checks the quotas of a plan after something else has happened."""

    happens: Callable[[], Awaitable[object]]

    async def require_room(
        self,
        connection: Connection,
        target: Environment,
        planned: Sequence[CopiedFlag],
        alterations: Sequence[Alteration],
    ) -> None:
        await self.happens()
        await super().require_room(connection, target, planned, alterations)


@dataclass(frozen=True)
class Pair:
    """A flag that is on in one environment and off in another, and the services with which its owner acts."""

    database: Database
    owner: Actor
    origin: Flag
    target: Flag
    flags: Flags
    rules: Rules

    async def toggle(self, flag: Flag) -> Flag:
        return await self.flags.toggle_flag(self.owner, FlagPath(flag.project_id, flag.environment_id, flag.id))

    async def copy(self, happens: Callable[[], Awaitable[object]], *, dry_run: bool = False) -> Copied:
        copies = Copies(self.database, now, MeanwhileQuotas(self.flags, self.rules, happens))
        places = self.origin.project_id, self.origin.environment_id, self.target.environment_id
        return await copies.copy(self.owner, *places, Wanted([self.origin.key], {Part.STATE}), dry_run=dry_run)

    async def present(self) -> Flag:
        async with self.database.read() as connection:
            found = await flags_store.find_flag(
                connection, self.target.project_id, self.target.environment_id, self.target.id
            )
        assert found is not None
        return found


@pytest.fixture
async def pair(database: Database, tmp_path: Path) -> Pair:
    account = make_account()
    project = make_project(account.id)
    production, staging = (make_environment(project.id, key=key) for key in ("production", "staging"))
    origin, target = make_flag(production), make_flag(staging, enabled=False)
    await store_all(database, account, project, production, staging, origin, target)
    owner = Actor(account.id, account.email)
    async with database.transaction() as transaction:
        created = change_of(owner, "project.created", project.created_at, Scope(project.id), after=project)
        await record(transaction, created)
    settings = Settings.load({"FLAGSTAFF_DATA_DIR": str(tmp_path)})
    work = WorkBudgets(settings.max_condition_work)
    flags, rules = Flags(database, now, settings, work), Rules(database, now, settings, work)
    return Pair(database, owner, origin, target, flags, rules)


def now() -> datetime:
    return datetime.now(UTC)


async def test_a_flag_that_changes_all_the_time_is_not_overwritten(pair: Pair) -> None:
    with pytest.raises(Error) as refused:
        await pair.copy(lambda: pair.toggle(pair.origin))

    assert (refused.value.code, refused.value.retry_after_seconds) == (Code.UNAVAILABLE, 1)
    assert await pair.present() == pair.target


async def test_a_copy_whose_target_changes_meanwhile_is_planned_again(pair: Pair) -> None:
    left = [pair.target]

    async def toggle() -> None:
        if left:
            await pair.toggle(left.pop())

    copied = await pair.copy(toggle)

    assert (await pair.present()).enabled
    assert copied.alterations == [], "it was turned on meanwhile, so there was nothing to copy"


async def test_a_dry_run_never_takes_the_turn_of_a_write(pair: Pair) -> None:
    begun: list[sa.Connection] = []

    async def nothing() -> None:
        return None

    engine = pair.database._engines.writer.sync_engine
    sa.event.listen(engine, "begin", begun.append)
    copied = await pair.copy(nothing, dry_run=True)
    assert [each.action for each in copied.alterations] == ["flag.toggled"]
    if not pair.database.is_postgresql:  # where reads have the same engine
        assert begun == []
    assert await pair.present() == pair.target
