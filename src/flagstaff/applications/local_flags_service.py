"""Loads flags for applications that evaluate them themselves, translated to Unleash's features.

The loader checks no permissions, because the runtime does not act for a user.
"""

from dataclasses import dataclass
from uuid import UUID

from flagstaff.applications.feature_encoder import FeatureEncoder
from flagstaff.concurrency.worker import in_worker
from flagstaff.database import revisions_store
from flagstaff.database.database import Connection, Database
from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.evaluation.unleash.features import Translation, translate
from flagstaff.evaluation.unleash.local_flags import LocalFlags
from flagstaff.flags.targeting.segments import Segment
from flagstaff.insight.flag_sets import ReadFlags, read_all
from flagstaff.projects import environments_store
from flagstaff.projects.projects import Environment
from flagstaff.values.lists import empty


@dataclass(frozen=True, slots=True)
class ReadEnvironment:
    """All flags of an environment, their rules and the project's segments, read in one consistent state.

    They are converted after the connection has been released.
    """

    found: ReadFlags
    revision: int

    def collect(self) -> tuple[dict[str, TargetedFlag], dict[str, Segment]]:
        """The flags with their rules, and the segments, by key."""
        collected = self.found.collect_flags()
        return collected, {segment.key: segment for segment in self.found.segments}

    def translate(self) -> dict[str, Translation]:
        """The features by key."""
        collected, named = self.collect()
        conditions = {key: segment.conditions for key, segment in named.items()}
        translated = translate(self.found.environment.key, collected, conditions)
        empty(collected)
        return translated

    def encode(self) -> LocalFlags:
        """The features as JSON."""
        translated = self.translate()
        encoded, encoder = {}, FeatureEncoder()
        for key in sorted(translated):  # so that all instances agree on the order
            encoded[key] = encoder.encode(translated.pop(key).feature)
        environment = self.found.environment
        local = LocalFlags(environment.id, environment.key, self.revision, encoded)
        local.keep("", local.compose())
        return local


async def read_environment(connection: Connection, environment: Environment) -> ReadEnvironment:
    """Read an environment that exists."""
    revision = await revisions_store.find_revision(connection, environment.project_id, environment.id)
    return ReadEnvironment(await read_all(connection, environment), revision.environment)


@dataclass(frozen=True, slots=True)
class LocalFlagsSource:
    """Reads and translates each environment in one consistent state."""

    database: Database

    async def load(self, project_id: UUID, environment_id: UUID) -> LocalFlags | None:
        """The flags of an environment, or None if the project has no such environment."""
        async with self.database.read() as connection:
            environment = await environments_store.find_environment(connection, project_id, environment_id)
            if environment is None:
                return None
            read = await read_environment(connection, environment)
        return await in_worker(read.encode)
