"""The data that `bench.pages` shows: a project with many flags in two environments, and evaluations of them."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from pathlib import Path
from uuid import UUID

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.evaluation.evaluator import evaluate
from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.flags.flags_store import create_flag
from flagstaff.settings import Settings
from tests.support.api import Caller, Json
from tests.support.builders import make_flag
from tests.support.history import Record, make_batch, write
from tests.support.sessions import log_in

EMAIL, PASSWORD = "bench@example.com", "a password for the bench"
_AGE = timedelta(days=40)
_EVALUATIONS, _USERS = 600, 200


@dataclass(frozen=True)
class Place:
    """The project that is measured, and its production environment."""

    project_id: str
    environment_id: str
    sdk_key: str


async def fill(data: Path, flags: int) -> Place:
    """Create the data in a directory that does not exist yet."""
    settings = Settings.load({"FLAGSTAFF_DATA_DIR": str(data)})
    flagstaff = Flagstaff(settings)
    await flagstaff.start()
    try:
        await flagstaff.identity.accounts.register(email=EMAIL, password=PASSWORD)
        token = await log_in(flagstaff, email=EMAIL, password=PASSWORD)
        async with Caller(flagstaff.edge.asgi, token=token) as caller:
            project = await caller.create_project()
            environments = [await caller.get_environment(project, key) for key in ("production", "staging")]
        for environment in environments:
            await _add_flags(flagstaff, environment, flags)
    finally:
        await flagstaff.stop()
    await _evaluate(settings, project["sdk_key"])
    return Place(project["id"], environments[0]["id"], project["sdk_key"])


async def _add_flags(flagstaff: Flagstaff, environment: Json, count: int) -> None:
    # Not through the API, which would compile the environment again for each flag.
    project_id, environment_id = UUID(environment["project_id"]), UUID(environment["id"])
    at = datetime.now(UTC) - _AGE
    async with flagstaff.database.transaction() as transaction:
        for number in range(count):
            flag = make_flag(
                project_id=project_id,
                environment_id=environment_id,
                name=f"Flag {number:04}",
                key=f"flag-{number:04}",
                enabled=number % 3 != 0,
                rollout_percentage=number % 99 + 1 if number % 3 == 1 else 0,
                created_at=at,
                updated_at=at,
            )
            await create_flag(transaction.connection, flag)


async def find_production(flagstaff: Flagstaff, sdk_key: str) -> EnvironmentSnapshot:
    """The environment `production` of a project, as a service that has been started would evaluate it."""
    access = await flagstaff.serving.sdk_keys.find(sdk_key)
    assert access is not None
    known = access.project.find_by_key("production")
    assert known is not None
    environment = await flagstaff.serving.snapshots.find_environment(known.project_id, known.environment_id)
    assert environment is not None
    return environment


async def _evaluate(settings: Settings, sdk_key: str) -> None:
    """Record evaluations of the last day."""
    flagstaff = Flagstaff(settings)
    await flagstaff.start()
    try:
        environment = await find_production(flagstaff, sdk_key)
        now, records = datetime.now(UTC), list[Record]()
        for number in range(_EVALUATIONS):
            at = now - timedelta(minutes=number * 2)
            user = f"user-{number % _USERS}"
            records.append((int(at.timestamp() * 10**9), user, None, evaluate(environment, user, None)[1]))
        batch = make_batch(environment.environment_id, environment.layout, *sorted(records, key=itemgetter(0)))
        await write(flagstaff.database, batch)
    finally:
        await flagstaff.stop()
