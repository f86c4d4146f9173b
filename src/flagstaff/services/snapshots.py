"""What the runtime's snapshots are loaded from. Asks no permissions: the runtime acts for nobody."""

from collections import defaultdict
from dataclasses import dataclass
from uuid import UUID

from flagstaff.domain.flags import Rule
from flagstaff.domain.projects import Environment
from flagstaff.evaluation.compiler import TargetedFlag, compile_environment
from flagstaff.evaluation.snapshot import EnvironmentSnapshot, ProjectSnapshot
from flagstaff.storage import environments, flags, projects, rules
from flagstaff.storage.database import Connection, Database


@dataclass(frozen=True, slots=True)
class SnapshotSource:
    """Reads and compiles, each in one consistent state of the database."""

    database: Database

    async def load_sdk_keys(self) -> dict[str, UUID]:
        """Every SDK key with its project's id."""
        async with self.database.read() as connection:
            return dict(await projects.list_sdk_keys(connection))

    async def load_project(self, project_id: UUID) -> ProjectSnapshot | None:
        """A whole project, compiled, or None if there is no such project."""
        async with self.database.read() as connection:
            project = await projects.find_project(connection, project_id)
            if project is None:
                return None
            found = await environments.list_environments(connection, project_id)
            compiled = {environment.key: await _compile(connection, environment) for environment in found}
        return ProjectSnapshot(project_id, project.sdk_key, compiled)

    async def load_environment(self, project_id: UUID, environment_id: UUID) -> EnvironmentSnapshot | None:
        """One environment, compiled, or None if the project has no such environment."""
        async with self.database.read() as connection:
            environment = await environments.find_environment(connection, project_id, environment_id)
            return await _compile(connection, environment) if environment else None


async def _compile(connection: Connection, environment: Environment) -> EnvironmentSnapshot:
    rules_of: defaultdict[UUID, list[Rule]] = defaultdict(list)
    for rule in await rules.list_rules_of_environment(connection, environment.id):
        rules_of[rule.flag_id].append(rule)
    targeted = [TargetedFlag(flag, rules_of[flag.id]) for flag in await flags.list_flags(connection, environment.id)]
    return compile_environment(environment, targeted)
