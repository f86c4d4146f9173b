"""The quotas that a copy needs, computed from its plan, before anything is written."""

from collections.abc import Sequence
from dataclasses import dataclass

from flagstaff.copying.copies import Alteration
from flagstaff.copying.copy_plans import CopiedFlag
from flagstaff.database.database import Connection
from flagstaff.flags import flags_store
from flagstaff.flags.flags import Flag, Rule
from flagstaff.flags.flags_service import Flags
from flagstaff.flags.targeting import rules_store
from flagstaff.flags.targeting.rules_service import Rules
from flagstaff.projects.projects import Environment
from flagstaff.values.errors import Code, Error, invalid_field


@dataclass(frozen=True, slots=True)
class CopyQuotas:
    """The quotas of the services that create flags and rules otherwise."""

    flags: Flags
    rules: Rules

    async def require_room(
        self,
        connection: Connection,
        target: Environment,
        planned: Sequence[CopiedFlag],
        alterations: Sequence[Alteration],
    ) -> None:
        """Raise Error CONFLICT where a quota has no room for what a copy would write."""
        await self._require_room_for_flags(connection, target, alterations)
        its_rules = [each for each in alterations if isinstance(each.resource, Rule)]
        written = [each.after for each in its_rules if isinstance(each.after, Rule)]
        replaced = [each.before for each in its_rules if isinstance(each.before, Rule)]
        if any(each.before is None for each in its_rules):
            with_new = [each for each in planned if any(before is None for before, _ in each.rules)]
            self.rules.settings.max_rules_per_flag.require_room(max(each.rule_count for each in with_new), 0)
            present = await rules_store.count_environment_rules(connection, target.id)
            more = len(written) - len(replaced)
            self.rules.settings.max_rules_per_environment.require_room(present + more, 0)
        await self._require_room_for_conditions(connection, target, written, replaced)
        more = sum(_prerequisites(each.after) - _prerequisites(each.before) for each in alterations)
        excess = await self.rules.work.find_excess_of_plan(connection, target, written, replaced, more)
        if excess is not None and excess.field == "prerequisites":
            raise invalid_field(excess.field, excess.message)
        if excess is not None:
            raise Error(Code.CONFLICT, f"A rule {excess.message}.")

    async def _require_room_for_flags(
        self, connection: Connection, target: Environment, alterations: Sequence[Alteration]
    ) -> None:
        settings = self.flags.settings
        new = [each for each in alterations if isinstance(each.after, Flag) and each.before is None]
        if new:
            present = await flags_store.count_flags(connection, target.id)
            settings.max_flags_per_environment.require_room(present, len(new))
        present = await flags_store.count_variant_characters(connection, target.id)
        more = sum(_characters(each.after) - _characters(each.before) for each in alterations)
        settings.max_variant_characters.require_within("environment", present + more, present)

    async def _require_room_for_conditions(
        self, connection: Connection, target: Environment, written: Sequence[Rule], replaced: Sequence[Rule]
    ) -> None:
        before = {rule.id: rule.conditions for rule in replaced}
        if any(rule.conditions and rule.conditions != before.get(rule.id) for rule in written):
            present = await rules_store.count_condition_characters(connection, target.id)
            more = sum(map(rules_store.condition_characters, written))
            less = sum(map(rules_store.condition_characters, replaced))
            self.rules.settings.max_condition_characters.require_within("environment", present + more - less)


def _characters(found: Flag | Rule | None) -> int:
    return flags_store.variant_characters(found) if isinstance(found, Flag) else 0


def _prerequisites(found: Flag | Rule | None) -> int:
    return len(found.prerequisites) if isinstance(found, Flag) else 0
