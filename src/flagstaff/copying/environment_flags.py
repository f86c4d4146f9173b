"""Reads flags of environments by their keys, with their rules, to compare them or to copy them."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from uuid import UUID

from flagstaff.copying.comparisons import Side
from flagstaff.database.database import Connection
from flagstaff.evaluation.compiler import tried_in_order
from flagstaff.flags import flags_store
from flagstaff.flags.flags import Flag, Rule
from flagstaff.flags.targeting import rules_store
from flagstaff.projects import environments_store
from flagstaff.projects.projects import Environment
from flagstaff.values.errors import invalid_field


@dataclass(frozen=True, slots=True)
class ReadEnvironmentFlags:
    """Flags of one environment, and their rules. They are converted by `collect`."""

    flags: Iterable[Flag]
    rules: Iterable[Rule]

    def collect(self) -> dict[str, Side]:
        """The flags with their rules by key."""
        rules_of: defaultdict[UUID, list[Rule]] = defaultdict(list)
        for rule in self.rules:
            rules_of[rule.flag_id].append(rule)
        sides = {}
        for flag in self.flags:
            sides[flag.key] = Side(flag, tried_in_order(rules_of[flag.id]))
        return sides


async def find_pair(
    connection: Connection, project_id: UUID, from_id: UUID, to_id: UUID
) -> tuple[Environment, Environment]:
    """Two environments of a project, of which the flags are compared or copied; the caller checks permissions.

    Raises:
        Error: INVALID, which names the field `from` or `to`, for one that does not exist or for twice the same.
    """
    origin = await find_origin(connection, project_id, from_id, "from")
    if from_id == to_id:
        raise invalid_field("to", "must be another environment than from")
    return origin, await find_origin(connection, project_id, to_id, "to")


async def find_origin(connection: Connection, project_id: UUID, environment_id: UUID, field: str) -> Environment:
    """An environment of a project that a request names in a field; raises Error INVALID, which names the field."""
    environment = await environments_store.find_environment(connection, project_id, environment_id)
    if environment is None:
        raise invalid_field(field, "must be the id of an environment of this project")
    return environment


async def read_environment_flags(
    connection: Connection, environment_id: UUID, keys: Collection[str]
) -> ReadEnvironmentFlags:
    """Read the flags of an environment with one of these keys, without archived ones, and their rules."""
    found = await flags_store.find_flags_by_key(connection, environment_id, keys)
    return ReadEnvironmentFlags(found, await rules_store.list_rules_of_keys(connection, environment_id, keys))
