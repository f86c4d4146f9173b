"""The data that `bench.management` asks for: environments of thousands of flags, with a history and a trail."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec

from bench.page_data import find_production
from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.changes.changes import Actor, Scope, change_of
from flagstaff.conditions.conditions import Condition
from flagstaff.conditions.operators import Operator
from flagstaff.database import tables
from flagstaff.database.change_rows_store import row_of
from flagstaff.database.database import Database
from flagstaff.evaluation.evaluator import evaluate
from flagstaff.flags.flags import Fallthrough, Flag, Rule, RuleType
from flagstaff.flags.flags_store import create_flags
from flagstaff.flags.prerequisites import Prerequisite
from flagstaff.flags.targeting.rules_store import create_rules
from flagstaff.flags.targeting.segments_store import create_segment
from flagstaff.flags.variants import Variant
from flagstaff.history.retention import HistoryRetention
from flagstaff.history.store.distinct_users import user_rollups
from flagstaff.projects.projects import Environment
from flagstaff.settings import Settings
from flagstaff.values.lists import parts_of
from tests.support.api import Caller, Json, environment_path, flag_path, project_path
from tests.support.builders import make_environment, make_flag, make_rule, make_segment
from tests.support.history import Record, make_batch, write
from tests.support.sessions import log_in

EMAIL, PASSWORD = "bench@example.com", "a password for the bench"
_TEXT = "The new checkout, which asks for the address first. See the ticket of the team that builds it. "
_RULES = 5
_USERS = 400
_DAYS = 6


@dataclass(frozen=True)
class Sizes:
    """How much there is of everything."""

    flags: int = 5_000
    needy: int = 3_000
    evaluations: int = 200_000
    changes: int = 50_000


@dataclass
class Filled:
    """The ids of what can be asked for, by the names of the parameters of paths, and some more."""

    token: str
    sdk_key: str
    ids: dict[str, str]
    other_environment_id: str
    needy_environment_id: str
    flag_ids: list[str]
    change_ids: list[str]
    body_of_flag: Json
    results: list[Json]


async def fill(settings: Settings, sizes: Sizes) -> Filled:
    """Create everything in a database that does not exist yet."""
    flagstaff = Flagstaff(settings)
    await flagstaff.start()
    try:
        account = await flagstaff.identity.accounts.register(email=EMAIL, password=PASSWORD)
        token = await log_in(flagstaff, email=EMAIL, password=PASSWORD)
        async with Caller(flagstaff.edge.asgi, token=token) as caller:
            project = await caller.create_project()
            places = [await caller.get_environment(project, key) for key in ("production", "staging")]
            needy = await caller.create_environment(project, name="Needy", key="needy")
            actor = Actor(account.id, account.email)
            stored = await _fill_environments(
                flagstaff, actor, [*places, {**needy, "project_id": project["id"]}], sizes
            )
            filled = await _create_one_of_each(caller, token, project, places[0], str(account.id))
    finally:
        await flagstaff.stop()
    await _evaluate(settings, project["sdk_key"], UUID(places[0]["id"]), sizes.evaluations)
    filled.other_environment_id, filled.needy_environment_id = places[1]["id"], needy["id"]
    filled.flag_ids, filled.change_ids = stored
    return filled


def save(filled: Filled, path: Path) -> None:
    """Keep what was filled for another run."""
    path.write_text(json.dumps(asdict(filled)))


def load(path: Path) -> Filled:
    """What an earlier run has saved."""
    return msgspec.json.decode(path.read_bytes(), type=Filled)


async def _fill_environments(
    flagstaff: Flagstaff, actor: Actor, places: Sequence[Json], sizes: Sizes
) -> tuple[list[str], list[str]]:
    """Ids of flags of the first environment, and of changes that can be put back."""
    homes = [make_environment(UUID(each["project_id"]), id=UUID(each["id"]), key=each["key"]) for each in places]
    production = make_flags(homes[0], sizes.flags)
    others = make_flags(homes[1], sizes.flags)
    others = [replace(each, enabled=not each.enabled) if n % 7 == 0 else each for n, each in enumerate(others)]
    needy = list(make_needy_flags(homes[2], sizes.needy))
    async with flagstaff.database.transaction() as transaction:
        for number in range(50):
            await create_segment(transaction.connection, _make_segment(homes[0].project_id, number))
    # In parts, since PostgreSQL ends a transaction that rests while this process makes what it writes.
    for flags in (production, others, needy):
        for some in parts_of(flags, 200):
            async with flagstaff.database.transaction() as transaction:
                await create_flags(transaction.connection, some)
                await create_rules(transaction.connection, (rule for each in some for rule in make_rules(each)))
    for rows in parts_of(list(_changes(actor, production, sizes.changes)), 500):
        async with flagstaff.database.transaction() as transaction:
            await transaction.connection.execute(tables.changes.insert(), rows)
    async with flagstaff.database.read() as connection:
        newest = tables.changes.select().order_by(tables.changes.c.id.desc()).limit(100)
        changes = [str(row.id) for row in await connection.execute(newest)]
    return [str(each.id) for each in production], changes


def make_flags(home: Environment, count: int) -> list[Flag]:
    """A fifth each are off, in a rollout, with variants, on for segments, and need others."""
    start = datetime.now(UTC) - timedelta(days=100)
    flags = []
    for number in range(count):
        at = start + timedelta(seconds=number)
        kinds: list[dict[str, Any]] = [
            {"enabled": False},
            {"rollout_percentage": number % 99 + 1},
            {"variants": _variants(number)},
            {"fallthrough": Fallthrough.OFF},
            {"prerequisites": tuple(Prerequisite(f"flag-{number - less:04}") for less in (1, 2, 3))},
        ]
        flag = make_flag(
            home,
            key=f"flag-{number:04}",
            name=f"Flag {number:04}",
            description=_TEXT * 2,
            tags=("checkout", f"team-{number % 20}"),
            created_at=at,
            updated_at=at,
            **kinds[number % 5],
        )
        flags.append(flag)
    return flags


def make_needy_flags(home: Environment, count: int) -> Iterator[Flag]:
    """Flags that each need twenty of those with lower numbers, and a few on which all depend."""
    for number in range(count):
        needs = tuple(Prerequisite(f"flag-{other:04}") for other in _needed(number))
        yield make_flag(home, key=f"flag-{number:04}", name=f"Flag {number:04}", prerequisites=needs)


def _needed(number: int) -> range:
    first = max(0, number // 50 * 50 - 50)
    return range(first, min(first + 20, number // 50 * 50))


def make_rules(flag: Flag) -> Iterator[Rule]:
    """Rules for users, domains, segments and attributes."""
    number = int(flag.key[-4:])
    if flag.fallthrough is Fallthrough.OFF:
        for place in range(2):
            key = f"segment-{(number + place) % 50}"
            yield make_rule(flag, rule_type=RuleType.SEGMENT, rule_value=key, priority=-place)
        plans = Condition("plan", Operator.IN, tuple(f"plan-{number}-{place}" for place in range(5)))
        yield make_rule(flag, rule_type=RuleType.ATTRIBUTES, rule_value=None, conditions=(plans,), priority=-2)
    elif not flag.prerequisites:
        for place in range(_RULES):
            yield make_rule(flag, rule_value=f"user-{number * 7 % _USERS}-{place}")


def _variants(number: int) -> tuple[Variant, ...]:
    return tuple(Variant(key, 250, f'{{"text":"Buy now","number":{number}}}') for key in "abcd")


def _make_segment(project_id: UUID, number: int) -> Any:
    values = tuple(f"user-{user}" for user in range(number, number + 1_000, 2))
    conditions = (Condition("user_id", Operator.IN, values),)
    return make_segment(project_id, key=f"segment-{number}", name=f"Segment {number}", conditions=conditions)


def _changes(actor: Actor, flags: Sequence[Flag], count: int) -> Iterator[dict[str, Any]]:
    """Changes of descriptions and of states, which follow one another and end with the flags as they are."""
    start = datetime.now(UTC) - timedelta(days=30)
    for number in range(count):
        flag = flags[number % len(flags)]
        before = replace(flag, enabled=not flag.enabled) if number % 2 else replace(flag, description=_TEXT)
        action = "flag.toggled" if number % 2 else "flag.updated"
        scope = Scope(flag.project_id, flag.environment_id, flag.id, flag.key)
        at = start + timedelta(seconds=number * 50)
        yield {**row_of(change_of(actor, action, at, scope, before=before, after=flag)), "at": at, "batch": None}


async def _create_one_of_each(caller: Caller, token: str, project: Json, place: Json, account_id: str) -> Filled:
    """One resource of each kind, about the flag that was created last."""
    path, inside = project_path(project), environment_path(place)
    listed = (await caller.get(f"{inside}/flags?limit=5")).json()
    flag = {**next(each for each in listed if each["variants"]), "project_id": project["id"]}
    ids = {"project_id": project["id"], "env_id": place["id"], "flag_id": flag["id"], "flag_key": flag["key"]}

    async def create(at: str, **body: Any) -> str:
        answer = await caller.post(at, json=body)
        assert answer.is_success, answer.text
        return str(answer.json()["id"])

    ids["account_id"] = account_id
    ids["rule_id"] = await create(f"{flag_path(flag)}/rules", rule_type="user_id", rule_value="ada")
    ids["segment_id"] = (await caller.get(f"{path}/segments?limit=1")).json()[0]["id"]
    ids["metric_id"] = await create(f"{path}/metrics", key="errors", name="Errors", kind="binary", better="down")
    ids["key_id"] = await create(f"{path}/sdk-keys", name="Shop", environment="production", kind="server")
    ids["webhook_id"] = await create(f"{path}/webhooks", url="https://hooks.invalid/", events=["*"], enabled=False)
    ids["view_id"] = await create(f"{path}/views", name="Beta", search={})
    ids["chart_id"] = await create(f"{path}/pinned-charts", name="Checkout", environment_id=place["id"])
    ids["invitation_id"] = await create(f"{path}/invitations", email="eve@example.com", role="viewer")
    steps = [{"after_seconds": 360_000, "changes": {"enabled": False}}]
    ids["release_id"] = await create(f"{flag_path(flag)}/releases", steps=steps)
    ids["comment_id"] = await create(f"{flag_path(flag)}/comments", text="Why?")
    ids["change_id"] = (await caller.get(f"{inside}/changes?limit=1")).json()["items"][0]["id"]
    body = {key: flag[key] for key in ("name", "key", "description", "enabled", "rollout_percentage", "variants")}
    return Filled(token, project["sdk_key"], ids, "", "", [], [], body, [])


async def _evaluate(settings: Settings, sdk_key: str, environment_id: UUID, count: int) -> None:
    """Record evaluations of the last days: in one minute of each hour, since counts of a minute are a row."""
    flagstaff = Flagstaff(settings)
    await flagstaff.start()
    try:
        environment = await find_production(flagstaff, sdk_key)
        recorded = [evaluate(environment, f"user-{user}", None)[1] for user in range(_USERS)]
    finally:
        await flagstaff.stop()
    database = Database(settings.database_url, settings.data_dir)  # in which nothing works in the background
    try:
        hours = _DAYS * 24
        first = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=hours)
        for hour in range(hours):
            start = int((first + timedelta(hours=hour)).timestamp()) * 10**9
            records: list[Record] = []
            for number in range(count // hours):
                user = (hour + number * 7) % _USERS
                answers = recorded[user if hour < hours // 2 else (user + 1) % _USERS]  # which change once
                records.append((start + number * 10_000_000, f"user-{user}", None, answers))
            await write(database, make_batch(environment_id, environment.layout, *records))
        await _roll_up(database)
    finally:
        await database.close()


async def _roll_up(database: Database) -> None:
    """Do what a server would do in the background."""

    def now() -> datetime:
        return datetime.now(UTC)

    retention, is_due = HistoryRetention(database, now, timedelta(days=90)), True
    while is_due:
        await retention.roll_up()
        async with database.read_history() as connection:
            is_due = bool(await user_rollups.find_due(connection, int(now().timestamp()) // 3600))
