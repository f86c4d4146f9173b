"""Targeting rules of a flag. When a method returns, every later evaluation sees what it did."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from uuid_utils.compat import uuid7

from flagstaff.changes.changes import Actor, change_of
from flagstaff.concurrency.pacing import collect
from flagstaff.database.changes_store import record
from flagstaff.database.database import Connection, Database
from flagstaff.database.preconditions import ANY_STATE, Precondition
from flagstaff.flags.access import FlagPath, open_flag, open_live_flag, scope_of
from flagstaff.flags.condition_work_budgets import WorkBudgets
from flagstaff.flags.flags import Rule
from flagstaff.flags.references import (
    require_given_conditions,
    require_segment,
    require_valid_value,
    require_variant,
)
from flagstaff.flags.targeting import rules_store
from flagstaff.flags.targeting.conditions_service import check_given_conditions
from flagstaff.permissions.permissions import Permission
from flagstaff.projects.access import open_environment
from flagstaff.settings import Settings
from flagstaff.values.errors import Code, Error, invalid_field
from flagstaff.values.lists import WHOLE, Window
from flagstaff.values.moments import later_than


@dataclass(frozen=True, slots=True)
class Rules:
    """The use cases of rules. All raise Error NOT_FOUND for resources that are not the actor's."""

    database: Database
    now: Callable[[], datetime]
    settings: Settings
    work: WorkBudgets

    async def create_rule(self, actor: Actor, path: FlagPath, **values: Any) -> Rule:
        """Create a rule with these fields; those that have a default may be left out, conditions only of other types.

        Raises:
            Error: INVALID for a value that is not valid for its type or for invalid conditions, CONFLICT if the flag or
                its environment has no room for another rule.
        """
        now = self.now()
        rule = Rule(id=uuid7(), flag_id=path.flag_id, created_at=now, updated_at=now, **values)
        require_valid_value(rule)
        require_given_conditions(values)
        rule = replace(rule, conditions=await check_given_conditions(rule.conditions))
        async with self.database.transaction() as transaction:
            flag = await open_live_flag(transaction.connection, actor, path, Permission.RULES_WRITE, for_update=True)
            connection = transaction.connection
            await require_segment(connection, path.project_id, rule)
            require_variant(flag, rule)
            await self.require_room(connection, path.environment_id, [path.flag_id])
            await rules_store.create_rule(transaction.connection, rule)
            await self._require_room_for(connection, path, rule, ())
            await record(transaction, change_of(actor, "rule.created", now, scope_of(flag), after=rule))
        return rule

    async def list_rules(self, actor: Actor, path: FlagPath, window: Window = WHOLE) -> list[Rule]:
        """The rules of a flag in the order in which they are tried.

        A position is a priority with its sign changed, a time of creation and an id.
        """
        async with self.database.read() as connection:
            await open_flag(connection, actor, path, Permission.FLAGS_READ)
            found = await rules_store.list_rules(connection, path.flag_id, window)
        return await collect(found)

    async def list_rules_of_environment(
        self, actor: Actor, project_id: UUID, environment_id: UUID, window: Window = WHOLE
    ) -> list[Rule]:
        """The rules of all flags of an environment; the rules of one flag in the order in which they are tried.

        A position is a flag's id and then as in `list_rules`.
        """
        async with self.database.read() as connection:
            await open_environment(connection, actor, project_id, environment_id, Permission.FLAGS_READ)
            found = await rules_store.list_rules_of_environment(connection, environment_id, window)
        return await collect(found)

    async def get_rule(self, actor: Actor, path: FlagPath, rule_id: UUID) -> Rule:
        """One rule."""
        async with self.database.read() as connection:
            await open_flag(connection, actor, path, Permission.FLAGS_READ)
            return await rules_store.get_rule(connection, path.flag_id, rule_id)

    async def update_rule(
        self,
        actor: Actor,
        path: FlagPath,
        rule_id: UUID,
        precondition: Precondition[Rule] = ANY_STATE,
        **values: Any,
    ) -> Rule:
        """Update the given fields of a rule. Equal values change nothing.

        Raises Error INVALID for a value that is not valid for the rule's type, or for invalid conditions.
        """
        if "conditions" in values:
            values["conditions"] = await check_given_conditions(values["conditions"])
        async with self.database.transaction() as transaction:
            flag = await open_live_flag(transaction.connection, actor, path, Permission.RULES_WRITE, for_update=True)
            rule = await rules_store.get_rule(transaction.connection, path.flag_id, rule_id)
            await precondition.require(transaction.connection, rule, rule_id, path.project_id)
            updated = replace(rule, **values)
            if updated == rule:
                return rule
            if (updated.rule_type, updated.rule_value) != (rule.rule_type, rule.rule_value):
                require_valid_value(updated)  # only then: a rule that is older than a check can still be disabled
                require_given_conditions(values, rule)
                await require_segment(transaction.connection, path.project_id, updated)
            if updated.variant != rule.variant:
                require_variant(flag, updated)
            updated = replace(updated, updated_at=later_than(rule.updated_at, self.now()))
            await rules_store.update_rule(transaction.connection, updated)
            await self._require_room_for(transaction.connection, path, updated, [rule])
            change = change_of(actor, "rule.updated", updated.updated_at, scope_of(flag), before=rule, after=updated)
            await record(transaction, change)
            return updated

    async def delete_rule(
        self, actor: Actor, path: FlagPath, rule_id: UUID, precondition: Precondition[Rule] = ANY_STATE
    ) -> None:
        """Delete a rule."""
        async with self.database.transaction() as transaction:
            flag = await open_live_flag(transaction.connection, actor, path, Permission.RULES_WRITE, for_update=True)
            rule = await rules_store.get_rule(transaction.connection, path.flag_id, rule_id)
            await precondition.require(transaction.connection, rule, rule_id, path.project_id)
            await rules_store.delete_rule(transaction.connection, rule_id)
            await record(transaction, change_of(actor, "rule.deleted", self.now(), scope_of(flag), before=rule))

    async def require_room(
        self, connection: Connection, environment_id: UUID, flag_ids: Collection[UUID], more: int = 1
    ) -> None:
        """Raise Error CONFLICT if a flag or the environment has no room for another rule, or as many more."""
        self.settings.max_rules_per_flag.require_room(await rules_store.count_most_rules(connection, flag_ids), more)
        self.settings.max_rules_per_environment.require_room(
            await rules_store.count_environment_rules(connection, environment_id), more
        )

    async def require_room_for_conditions(
        self,
        connection: Connection,
        project_id: UUID,
        environment_id: UUID,
        written: Sequence[Rule],
        replaced: Sequence[Rule] = (),
    ) -> None:
        """Raise Error CONFLICT if the environment's conditions have become too long, or too much work.

        `written` are the rules just written, and `replaced` those as they were before, and those that were deleted.
        """
        await self._require_characters(connection, environment_id, written, replaced)
        excess = await self.work.find_excess(connection, project_id, environment_id, written, replaced)
        if excess is not None:
            raise Error(Code.CONFLICT, f"A rule {excess.message}.")

    async def _require_room_for(
        self, connection: Connection, path: FlagPath, written: Rule, replaced: Sequence[Rule]
    ) -> None:
        await self._require_characters(connection, path.environment_id, [written], replaced)
        excess = await self.work.find_excess(connection, path.project_id, path.environment_id, [written], replaced)
        if excess is not None:
            raise invalid_field(excess.field, excess.message)

    async def _require_characters(
        self, connection: Connection, environment_id: UUID, written: Sequence[Rule], replaced: Sequence[Rule]
    ) -> None:
        present = {rule.id: rule.conditions for rule in replaced}
        if any(rule.conditions and rule.conditions != present.get(rule.id) for rule in written):
            characters = await rules_store.count_condition_characters(connection, environment_id)
            self.settings.max_condition_characters.require_within("environment", characters)
