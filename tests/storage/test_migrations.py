"""The migrations on both databases: up, down, up again, concurrent, interrupted and from a newer version."""

import asyncio
import sys
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from struct import unpack
from typing import Any
from uuid import UUID, uuid4
from zlib import decompress

import asyncpg
import msgspec
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from flagstaff.audit.change_lists_store import list_account_changes
from flagstaff.audit.changes import COMMAND_LINE, Actor, Scope, TokenName, change_of
from flagstaff.audit.changes_store import record
from flagstaff.database import dialect, newest_schema, tables
from flagstaff.database.database import Database
from flagstaff.database.migrate import migrate
from flagstaff.database.schema_state import current_revision, is_supported
from flagstaff.database.sqlite.files import CONFIGURATION_FILE, HISTORY_FILE
from flagstaff.evaluation.history.layout import Decider, LayoutFlag
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.flags.flags import Fallthrough, Flag, Rule, RuleType
from flagstaff.flags.flags_store import get_flag
from flagstaff.flags.prerequisites import Prerequisite
from flagstaff.flags.targeting.conditions import Condition
from flagstaff.flags.targeting.operators import Operator
from flagstaff.flags.targeting.rules_store import get_rule, list_rules
from flagstaff.flags.targeting.segments_store import get_segment, list_segments
from flagstaff.flags.variants import Variant
from flagstaff.history.retention import HistoryRetention
from flagstaff.history.store import event_segments
from flagstaff.history.store.batches import find_environment_number
from flagstaff.history.store.callers import add_requests
from flagstaff.history.store.deletions import list_bytes
from flagstaff.history.store.distinct_users.user_rollups import roll_up_users
from flagstaff.history.store.distinct_users.user_sums import UserSums, sum_users
from flagstaff.history.store.events import write_events
from flagstaff.history.store.flag_counts import DAY
from flagstaff.history.store.rollups import roll_up
from flagstaff.history.store.sums import sum_by_interval
from flagstaff.hooks.webhooks import Format, Webhook
from flagstaff.hooks.webhooks_store import create_webhook, find_webhook
from flagstaff.identity.access_tokens.access_tokens_store import create_token, find_token_by_hash
from flagstaff.identity.accounts.accounts_store import find_account, find_account_by_email
from flagstaff.identity.second_factors.second_factors import TotpSecret
from flagstaff.identity.second_factors.second_factors_store import find_totp, save_totp
from flagstaff.identity.single_sign_on.identities import Identity
from flagstaff.identity.single_sign_on.identities_store import create_identity, find_identity
from flagstaff.metrics.events import EventBatch, EventGroup, EventRow
from flagstaff.projects.environments_store import list_retentions
from flagstaff.projects.idempotency_store import claim
from flagstaff.projects.members.invitations_store import create_invitation, list_invitations
from flagstaff.projects.members.members import Role
from flagstaff.projects.members.members_store import find_member, list_members
from flagstaff.projects.permissions import Permission
from flagstaff.projects.projects_store import find_project
from flagstaff.projects.record_origins import Origin, Origins
from flagstaff.projects.sdk_keys import KeyKind
from flagstaff.releases.plans import Counts
from flagstaff.releases.releases_store import create_release, find_release, get_release
from flagstaff.serving.callers import Caller, SdkProtocol
from flagstaff.values.errors import Code, Error
from tests.support.builders import (
    AT,
    make_access_token,
    make_account,
    make_environment,
    make_flag,
    make_invitation,
    make_member,
    make_project,
    make_release,
    make_rule,
    make_segment,
    store_all,
)
from tests.support.history import make_batch, make_layout, make_record, read, write
from tests.support.newest_schema import describe_files, describe_migrated
from tests.support.postgres import PostgresServer
from tests.support.stores import Store, postgresql_store

REVISIONS = [f"{number:04}" for number in range(1, 58)]
NEWEST = REVISIONS[-1]
DEFAULTS = make_flag()


async def migrate_store(store: Store, revision: str = "head", *, force: bool = False) -> list[str]:
    return await migrate(store.database_url, store.data_directory, revision, force=force)


async def run_on(store: Store, function: Any) -> Any:
    """Call a function with a plain connection that sees all tables, including the history's."""
    directory = store.data_directory
    engine = dialect.migrating_engine(store.database_url, directory / CONFIGURATION_FILE, directory / HISTORY_FILE)
    try:
        async with engine.begin() as connection:
            return await connection.run_sync(function)
    finally:
        await engine.dispose()


async def execute(store: Store, statement: str) -> None:
    await run_on(store, lambda connection: connection.execute(sa.text(statement)))


def table_names(connection: sa.Connection) -> set[str]:
    inspector = sa.inspect(connection)
    names = set(inspector.get_table_names())
    if "history" in inspector.get_schema_names():
        in_history = inspector.get_table_names("history")
        names |= {f"history.{name}" for name in in_history if not is_partition(name)}
    return names - {"alembic_version"}


def is_partition(name: str | None) -> bool:
    return name is not None and name.startswith("segments_")


def differences(connection: sa.Connection) -> list[Any]:
    options = {"include_schemas": True, "include_name": lambda name, kind, _: kind != "table" or not is_partition(name)}
    context = MigrationContext.configure(connection, opts=options)
    return compare_metadata(context, tables.metadata)


@pytest.mark.parametrize("revision", ["9999", "", "-1", "+1", "000", "heads"])
async def test_an_unknown_revision_is_refused(store: Store, revision: str) -> None:
    with pytest.raises(Error, match=r"There is no revision .* The revisions are base, 0001, .*head") as refusal:
        await migrate_store(store, revision)
    assert refusal.value.code is Code.INVALID
    assert await migrate_store(store) == []


async def test_a_database_of_a_newer_version_is_refused_and_left_alone(store: Store) -> None:
    await execute(store, "UPDATE alembic_version SET version_num = '9999', oldest_supported = '9998'")
    before = await run_on(store, table_names)
    for target in ("head", "base", NEWEST):
        with pytest.raises(Error, match=r"revision 9999, which is unknown .* --to " + NEWEST) as refusal:
            await migrate_store(store, target)
        assert refusal.value.code is Code.CONFLICT
    assert await run_on(store, table_names) == before


async def test_a_migration_that_fails_leaves_nothing_half_done(bare_store: Store) -> None:
    done = await migrate_store(bare_store, "0020")
    await execute(bare_store, "CREATE TABLE webhooks (in_the_way INTEGER)")
    before = await run_on(bare_store, table_names)
    with pytest.raises(sa.exc.DBAPIError, match="already exists"):
        await migrate_store(bare_store)
    assert await run_on(bare_store, table_names) == before
    await execute(bare_store, "DROP TABLE webhooks")
    assert done + await migrate_store(bare_store) == REVISIONS


async def test_migrating_an_empty_database_creates_the_tables_in_the_code(bare_store: Store) -> None:
    assert await migrate_store(bare_store) == REVISIONS
    assert await run_on(bare_store, differences) == []


async def test_a_new_sqlite_database_is_created_in_one_step_as_the_migrations_would_create_it(tmp_path: Path) -> None:
    migrated, created = tmp_path / "migrated", tmp_path / "created"
    for directory in (migrated, created):
        directory.mkdir()
    expected = await describe_migrated(migrated)
    assert await migrate(None, created) == REVISIONS
    assert await describe_files(created) == expected
    assert newest_schema.FILE.read_text("utf-8") == expected, "run: make schema"


async def test_a_migrated_database_has_nothing_to_do(store: Store) -> None:
    assert await migrate_store(store) == []


async def test_down_to_the_base_leaves_no_table_and_up_again_makes_them_all(store: Store) -> None:
    assert await migrate_store(store, "base") == REVISIONS[::-1]
    assert await run_on(store, table_names) == set()
    assert await migrate_store(store) == REVISIONS
    assert await run_on(store, differences) == []


def counts_of_older_form(connection: sa.Connection) -> Counter[tuple[int, str, int, int]]:
    """Return seven numbers per flag by minute, flag key, rollout percentage and outcome, as 0002 stores them."""
    layouts = {
        layout_id: msgspec.msgpack.decode(decompress(content))
        for layout_id, content in connection.execute(sa.text("SELECT id, content FROM history.layouts"))
    }
    counts: Counter[tuple[int, str, int, int]] = Counter()
    rows = connection.execute(sa.text("SELECT minute, layout_id, evaluations, counts FROM history.summaries"))
    for minute, layout_id, evaluations, block in rows:
        layout = layouts[layout_id]
        width = len(layout["recorded"])
        numbers = unpack(f"<{7 * width}Q", decompress(block).ljust(7 * width * 8, b"\0"))
        for place, number in enumerate(numbers):
            flag, outcome = layout["recorded"][place // 7], place % 7
            percentage = flag["rollout_percentage"] if outcome in (4, 5) else 0
            counts[minute, flag["key"], percentage, outcome] += number
        for flag in layout["constant"]:
            counts[minute, flag["key"], 0, flag["default"]] += evaluations
    return +counts


async def summarise_by_minute(database: Database, environment_id: UUID) -> Counter[tuple[int, str, int, int]]:
    async with database.read_history() as connection:
        number = await find_environment_number(connection, environment_id)
        assert number is not None
        days, pending = tables.flag_counts.c, tables.summaries.c
        ends = [
            (await connection.execute(sa.select(sa.func.min(minute), sa.func.max(minute)))).one()
            for minute in (days.start, pending.minute)
        ]
        known = [minute for each in ends for minute in each if minute is not None]
        minutes = range(min(known), max(known) + DAY)  # their intervals are minutes
        sums = await sum_by_interval(connection, number, minutes, minutes, max_cells=1000)
    found: Counter[tuple[int, str, int, int]] = Counter()
    for (key, _), minutes in sums.take():
        for minute, kinds in minutes:
            for (outcome, percentage, _), times in kinds:
                found[minute, key, percentage, int(outcome)] += times
    return found


async def test_counts_survive_the_way_down_to_their_older_form_and_up_again(database: Database, store: Store) -> None:
    environment_id, layout = uuid4(), make_layout()
    ruled = (100, 102, 103, 104)
    records = [make_record(40 * each, recorded=bytes((each, ruled[each % 4]))) for each in range(99)]
    await write(database, make_batch(environment_id, layout, *records[:70]))
    async with database.write_history() as connection:
        await roll_up(connection, 1)
    await write(database, make_batch(environment_id, layout, *records[50:]))
    before = await summarise_by_minute(database, environment_id)
    evaluations = await read(database, environment_id)
    await migrate_store(store, "0002")
    assert await run_on(store, counts_of_older_form) == before
    await migrate_store(store)
    for _ in range(2):
        assert await summarise_by_minute(database, environment_id) == before
        assert await read(database, environment_id) == evaluations
        async with database.write_history() as connection:
            await roll_up(connection, 1)


async def test_the_size_of_the_history_is_measured_by_the_upgrade(database: Database, store: Store) -> None:
    environment_id = uuid4()
    await write(database, make_batch(environment_id, make_layout(), make_record(0), make_record(3600)))
    await migrate_store(store, "0002")
    await migrate_store(store)
    async with database.read_history() as connection:
        (newest, newer), (oldest, older) = await list_bytes(connection)
    assert newest == oldest + 1
    assert newer > 0
    assert older > 0


async def test_the_segments_of_events_go_on_after_the_ids_of_the_events_before(
    database: Database, store: Store
) -> None:
    await migrate_store(store, "0038")
    at = tables.microseconds(AT)
    values = f"(7, 1, 'errors', 'ada', {at}, NULL)"
    await execute(store, f"INSERT INTO history.events (id, environment, metric, unit, at, value) VALUES {values}")
    await migrate_store(store)
    events = EventBatch(1, at, [EventGroup(uuid4(), [EventRow("errors", "eve", at, None, None)], {})])
    async with database.write_history() as connection:
        await write_events(connection, events)
        ids = (await connection.execute(sa.select(tables.event_segments.c.id))).scalars().all()
        left = (await connection.execute(sa.select(sa.func.count()).select_from(tables.events))).scalar_one()
    assert (ids, left) == ([8], 0)


async def count_users(database: Database, number: int) -> tuple[Any, ...]:
    day = make_record()[0] // (86_400 * 10**9)
    found = []
    for key in ("rollout", "ruled", "off"):
        sums = UserSums(range(day, day + 1), [day])
        async with database.read_history() as connection:
            await sum_users(connection, number, key, sums)
        found.append(sums.of_all())
    return tuple(found)


async def test_distinct_users_are_counted_again_after_the_way_down_and_up(database: Database, store: Store) -> None:
    layout = make_layout()
    records = [make_record(40 * each, f"user-{each % 7}", bytes((each, 100))) for each in range(99)]
    await write(database, make_batch(uuid4(), layout, *records))
    async with database.write_history() as connection:
        await roll_up_users(connection, 1)
    before = await count_users(database, 1)
    assert before == ((7, 7, 0), (7, 0, 0), (0, 7, 0))
    assert await migrate_store(store, "0010") == REVISIONS[:9:-1]
    assert not {"history.flag_users", "history.environment_users"} & await run_on(store, table_names)
    await migrate_store(store)
    assert await count_users(database, 1) == before
    async with database.write_history() as connection:
        await roll_up_users(connection, 1)
    assert await count_users(database, 1) == before


@pytest.mark.parametrize("revision", REVISIONS)
async def test_down_to_a_revision_and_up_again_keeps_what_it_can_hold(
    database: Database, store: Store, revision: str
) -> None:
    account = make_account(email_verified_at=AT)
    await store_all(database, account)
    steps = REVISIONS[REVISIONS.index(revision) + 1 :]
    assert await migrate_store(store, revision) == steps[::-1]
    assert await current_revision(database) == revision
    assert await migrate_store(store) == steps
    async with database.read() as connection:
        assert await find_account(connection, account.id) == account


async def test_a_database_of_an_older_revision_is_not_supported(database: Database, store: Store) -> None:
    assert await is_supported(database)
    await migrate_store(store, "base")
    assert not await is_supported(database)
    assert await current_revision(database) is None


async def test_a_database_without_a_table_is_not_supported(bare_store: Store) -> None:
    opened = Database(bare_store.database_url, bare_store.data_directory)
    try:
        assert not await is_supported(opened)
    finally:
        await opened.close()


async def test_both_files_of_sqlite_are_migrated_in_one_commit(data_directory: Path) -> None:
    """With a rollback journal, a kill during the commit leaves both files unchanged; in WAL mode it does not."""
    await migrate(None, data_directory)
    for name in (CONFIGURATION_FILE, HISTORY_FILE):
        assert (data_directory / name).read_bytes()[18:20] == b"\x01\x01", "its journal was a write-ahead log"


async def test_processes_that_start_at_once_migrate_once(bare_store: Store) -> None:
    program = (
        "import asyncio, pathlib, sys; from flagstaff.database.migrate import migrate;"
        "print(asyncio.run(migrate(sys.argv[2] or None, pathlib.Path(sys.argv[1]))))"
    )
    arguments = ("-c", program, str(bare_store.data_directory), bare_store.database_url or "")
    started = [
        await asyncio.create_subprocess_exec(sys.executable, *arguments, stdout=asyncio.subprocess.PIPE)
        for _ in range(3)
    ]
    printed = sorted([(await process.communicate())[0].decode().strip() for process in started])
    assert printed == [str(REVISIONS), "[]", "[]"]
    assert await run_on(bare_store, differences) == []


async def test_the_trail_learns_the_keys_of_flags_and_loses_idempotency_keys_on_the_way_down(
    database: Database, store: Store
) -> None:
    account, flag, other = make_account(), make_flag(), make_flag(key="other")
    rule = make_rule(flag)
    await store_all(database, account)
    scope = Scope(flag.project_id, flag.environment_id, flag.id)  # as it was written before it had a key
    async with database.transaction() as transaction:
        for change in (
            change_of(COMMAND_LINE, "flag.created", AT, scope, after=flag),
            change_of(COMMAND_LINE, "rule.created", AT, scope, after=rule),
            change_of(COMMAND_LINE, "flag.deleted", AT, scope, before=flag),
            change_of(COMMAND_LINE, "flag.created", AT, Scope(other.project_id, flag_id=other.id), after=other),
            change_of(COMMAND_LINE, "account.registered", AT, Scope(), after=account),
        ):
            await record(transaction, change)
        claimed = {"fingerprint": b"", "now": AT, "expired_at": AT}
        assert await claim(transaction.connection, account.id, "key", **claimed) is None
    assert "0004" in await migrate_store(store, "0002")
    assert "0004" in await migrate_store(store)
    assert await run_on(store, differences) == []
    columns = tables.changes.c
    async with database.read() as connection:
        keys = await connection.execute(sa.select(columns.flag_key).order_by(columns.id))
        assert list(keys.scalars()) == [flag.key, flag.key, flag.key, "other", None]
        assert (await connection.execute(sa.select(tables.idempotency_keys))).all() == []


async def store_flag(database: Database, **values: Any) -> tuple[Flag, Rule]:
    """Store a flag with a rule, and the resources that contain them."""
    account = make_account()
    project = make_project(account.id)
    environment = make_environment(project.id)
    flag = make_flag(environment, **values)
    rule = make_rule(flag)
    await store_all(database, account, project, environment, flag, rule)
    return flag, rule


async def read_flag(database: Database, flag: Flag) -> Flag:
    async with database.read() as connection:
        return await get_flag(connection, flag.project_id, flag.environment_id, flag.id)


async def test_fields_with_their_defaults_survive_the_way_down_and_up_again(database: Database, store: Store) -> None:
    flag, rule = await store_flag(database, rollout_percentage=25)
    await migrate_store(store, "0005")
    await migrate_store(store)
    assert await read_flag(database, flag) == flag
    async with database.read() as connection:
        assert await get_rule(connection, flag.id, rule.id) == rule


@pytest.mark.parametrize(
    "values", [{"fallthrough": Fallthrough.OFF}, {"bucketing_key": "k"}, {"stickiness": "company"}, {"tags": ("a",)}]
)
async def test_a_downgrade_that_would_drop_a_flags_fields_is_refused_unless_it_is_forced(
    database: Database, store: Store, values: dict[str, Any]
) -> None:
    flag, _ = await store_flag(database, **values)
    for revision in ("0005", "0002", "base"):
        with pytest.raises(Error, match=r"would drop 1 flags with .* --force") as refusal:
            await migrate_store(store, revision)
        assert refusal.value.code is Code.CONFLICT
    assert await read_flag(database, flag) == flag
    await migrate_store(store, "0005", force=True)
    await migrate_store(store)
    assert await read_flag(database, flag) == replace(flag, **{name: getattr(DEFAULTS, name) for name in values})


async def test_a_downgrade_drops_what_was_recorded_with_newer_outcomes_and_keeps_the_rest(
    database: Database, store: Store
) -> None:
    older, newer = uuid4(), uuid4()
    layout = make_layout(constant=(LayoutFlag(uuid4(), "only-rules", 0, Outcome.NO_RULE),))
    for is_rolled_up in (True, False):
        await write(database, make_batch(older, make_layout(), make_record()))
        await write(database, make_batch(newer, layout, make_record(), make_record()))
        if is_rolled_up:
            async with database.write_history() as connection:
                await roll_up(connection, 1)
                await roll_up(connection, 2)
    before = await summarise_by_minute(database, older)
    with pytest.raises(Error, match="would drop 4 recorded evaluations with a fallthrough"):
        await migrate_store(store, "0005")
    assert len(await read(database, newer)) == 4
    await migrate_store(store, "0005", force=True)
    await migrate_store(store)
    assert len(await read(database, older)) == 2
    assert await summarise_by_minute(database, older) == before
    assert await read(database, newer) == []
    assert {key for _, key, *_ in await summarise_by_minute(database, newer)} == {"rollout", "ruled"}


CONDITION = Condition("plan", Operator.IN, ("gold",))


@pytest.mark.parametrize(
    "values",
    [
        {"conditions": (CONDITION,)},
        {"rollout_percentage": 99},
        {"rule_type": RuleType.ATTRIBUTES, "rule_value": None},
    ],
)
async def test_a_downgrade_that_would_drop_a_rule_with_conditions_is_refused_unless_it_is_forced(
    database: Database, store: Store, values: dict[str, Any]
) -> None:
    flag, rule = await store_flag(database)
    newer = make_rule(flag, **values)
    await store_all(database, newer)
    with pytest.raises(Error, match=r"would drop 1 rules with conditions or a percentage\. .* --force"):
        await migrate_store(store, "0006")
    async with database.read() as connection:
        assert await get_rule(connection, flag.id, newer.id) == newer
    await migrate_store(store, "0006", force=True)
    await migrate_store(store)
    async with database.read() as connection:
        assert list(await list_rules(connection, flag.id)) == [rule]


async def test_a_downgrade_drops_what_was_recorded_with_conditions(database: Database, store: Store) -> None:
    older, newer = uuid4(), uuid4()
    decider = Decider(Outcome.ATTRIBUTES_RULE, uuid4())
    layout = make_layout(recorded=(LayoutFlag(uuid4(), "rule", 0, Outcome.NO_RULE, (decider,), has_bucket=True),))
    for is_rolled_up in (True, False):
        await write(database, make_batch(older, make_layout(), make_record()))
        await write(database, make_batch(newer, layout, make_record(recorded=b"\x65\x07")))
        if is_rolled_up:
            async with database.write_history() as connection:
                await roll_up(connection, 1)
                await roll_up(connection, 2)
    before = await summarise_by_minute(database, older)
    (first, _) = await read(database, newer)
    assert [(each.rule_id, each.bucket) for each in first.decisions()] == [(decider.rule_id, 7), (None, None)]
    with pytest.raises(Error, match="would drop 2 recorded evaluations with such rules"):
        await migrate_store(store, "0006")
    await migrate_store(store, "0006", force=True)
    await migrate_store(store)
    assert await summarise_by_minute(database, older) == before
    assert await read(database, newer) == []
    assert {key for _, key, *_ in await summarise_by_minute(database, newer)} == {"off"}


async def test_a_downgrade_that_would_drop_segments_is_refused_unless_it_is_forced(
    database: Database, store: Store
) -> None:
    flag, rule = await store_flag(database)
    segment = make_segment(flag.project_id, conditions=(CONDITION,))
    await store_all(database, segment, make_rule(flag, rule_type=RuleType.SEGMENT, rule_value="beta"))
    with pytest.raises(Error, match=r"would drop 1 segments, 1 rules for segments\."):
        await migrate_store(store, "0007")
    async with database.read() as connection:
        assert await get_segment(connection, flag.project_id, segment.id) == segment
    await migrate_store(store, "0007", force=True)
    await migrate_store(store)
    async with database.read() as connection:
        assert list(await list_rules(connection, flag.id)) == [rule]
        assert list(await list_segments(connection, flag.project_id)) == []


async def test_a_downgrade_that_would_drop_variants_or_prerequisites_is_refused_unless_it_is_forced(
    database: Database, store: Store
) -> None:
    red = Variant("red", 1, '{"a":[1.5,true]}')
    flag, rule = await store_flag(database, variants=(red,), prerequisites=(Prerequisite("other", variants=("a",)),))
    given = make_rule(flag, variant="red")
    await store_all(database, given)
    with pytest.raises(Error, match=r"would drop 1 flags with variants or prerequisites\."):
        await migrate_store(store, "0008")
    assert await read_flag(database, flag) == flag
    await migrate_store(store, "0008", force=True)
    await migrate_store(store)
    assert await read_flag(database, flag) == replace(flag, variants=(), prerequisites=())
    async with database.read() as connection:
        assert list(await list_rules(connection, flag.id)) == [rule, replace(given, variant=None)]


async def test_the_way_up_makes_the_creator_of_a_project_its_owner(database: Database, store: Store) -> None:
    flag, _ = await store_flag(database)
    await migrate_store(store, "0011")
    await migrate_store(store)
    async with database.read() as connection:
        project = await find_project(connection, flag.project_id)
        assert project is not None
        (member,) = await list_members(connection, project.id)
    assert (member.account_id, member.role, member.created_at) == (project.owner_id, Role.OWNER, project.created_at)


async def test_a_downgrade_that_would_drop_members_is_refused_unless_it_is_forced(
    database: Database, store: Store
) -> None:
    flag, _ = await store_flag(database)
    account = make_account()
    member = make_member(flag.project_id, account, role=Role.VIEWER, environments={"production": Role.EDITOR})
    await store_all(database, account, member)
    with pytest.raises(Error, match=r"would drop 1 members of projects\."):
        await migrate_store(store, "0011")
    async with database.read() as connection:
        assert await find_member(connection, flag.project_id, account.id) == member
    await migrate_store(store, "0011", force=True)
    await migrate_store(store)
    async with database.read() as connection:
        assert [each.role for each in await list_members(connection, flag.project_id)] == [Role.OWNER]


async def test_a_downgrade_that_would_drop_invitations_is_refused_unless_it_is_forced(
    database: Database, store: Store
) -> None:
    flag, _ = await store_flag(database)
    async with database.transaction() as transaction:
        project = await find_project(transaction.connection, flag.project_id)
        assert project is not None
        invitation = make_invitation(project)
        await create_invitation(transaction.connection, invitation)
    with pytest.raises(Error, match=r"would drop 1 invitations\."):
        await migrate_store(store, "0012")
    async with database.read() as connection:
        assert await list_invitations(connection, project.id, AT) == [invitation]
    await migrate_store(store, "0012", force=True)
    await migrate_store(store)
    async with database.read() as connection:
        assert await list_invitations(connection, project.id, AT) == []


async def test_a_downgrade_that_would_drop_comments_charts_callers_and_orders_is_refused_unless_it_is_forced(
    database: Database, store: Store
) -> None:
    flag, _ = await store_flag(database)
    project = {"project_id": flag.project_id}
    row = {**project, "id": uuid4(), "environment_id": flag.environment_id, "created_at": AT}
    chart = {"name": "Chart", "period": "day", "split": "result", "scale": "count", "compare_before": False}
    caller = Caller(flag.environment_id, SdkProtocol.EVALUATE, None, "shop/1.0", "192.0.2.0/24")
    async with database.transaction() as transaction:
        connection = transaction.connection
        (owner,) = await list_members(connection, flag.project_id)
        subscription = {**row, "account_id": owner.account_id, "kind": "environment"}
        comment = {**row, "author_email": owner.email, "text": "Why?", "updated_at": AT}
        await connection.execute(tables.subscriptions.insert(), subscription)
        await connection.execute(tables.comments.insert(), comment)
        await connection.execute(tables.pinned_charts.insert(), {**row, **chart})
        await connection.execute(tables.environments.update().values(position=0))
    async with database.write_history() as connection:
        await add_requests(connection, {caller: 1}, AT)
    refused = "1 comments, 1 subscriptions to mails, 1 pinned charts, 1 callers, the order of the environments of 1 "
    with pytest.raises(Error, match=f"would drop {refused}projects"):
        await migrate_store(store, "0033")
    await migrate_store(store, "0033", force=True)
    await migrate_store(store)
    async with database.read() as connection:
        for table in (tables.comments, tables.subscriptions, tables.pinned_charts):
            assert not (await connection.execute(sa.select(table))).all()


async def test_a_downgrade_that_would_drop_access_tokens_is_refused_unless_it_is_forced(
    database: Database, store: Store
) -> None:
    account = make_account()
    token = make_access_token(account)
    await store_all(database, account)
    async with database.transaction() as transaction:
        await create_token(transaction.connection, token, b"a hash")
        actor = Actor(account.id, account.email, TokenName(token.id, token.name))
        await record(transaction, change_of(actor, "account.registered", AT, Scope(), after=account))
    with pytest.raises(Error, match=r"would drop 1 access tokens\."):
        await migrate_store(store, "0014")
    async with database.read() as connection:
        assert await find_token_by_hash(connection, b"a hash", AT) == (token, None)
    await migrate_store(store, "0014", force=True)
    await migrate_store(store)
    async with database.read() as connection:
        assert await find_token_by_hash(connection, b"a hash", AT) is None
        (change,) = await list_account_changes(connection, account.id, before=None, limit=2)
    assert change.change.actor == Actor(account.id, account.email)


async def test_tokens_that_could_manage_webhooks_still_can_and_a_downgrade_takes_nothing_from_them(
    database: Database, store: Store
) -> None:
    account = make_account()
    await store_all(database, account)
    given: dict[bytes, tuple[Permission, ...]] = {
        b"both": (Permission.AUDIT_READ, Permission.KEYS_ROTATE),
        b"keys": (Permission.KEYS_ROTATE,),
        b"trail": (Permission.AUDIT_READ,),
        b"own": (Permission.AUDIT_READ, Permission.WEBHOOKS_READ),
    }
    async with database.transaction() as transaction:
        for token_hash, permissions in given.items():
            token = make_access_token(account, id=uuid4(), permissions=permissions)
            await create_token(transaction.connection, token, token_hash)
    await migrate_store(store, "0039")
    await migrate_store(store)
    webhooks = (Permission.WEBHOOKS_READ, Permission.WEBHOOKS_WRITE)
    for token_hash, permissions in {**given, b"both": (*given[b"both"], *webhooks)}.items():
        async with database.read() as connection:
            found = await find_token_by_hash(connection, token_hash, AT)
        assert found is not None
        assert found[0].permissions == permissions


async def test_webhooks_of_the_instance_belong_to_their_creators_and_projects_share_nothing(
    database: Database, store: Store
) -> None:
    account = make_account()
    project = replace(make_project(account.id), shares_contents=True)
    webhook = Webhook(
        id=uuid4(),
        project_id=None,
        url="https://hooks.example.com/",
        events=("*",),
        environments=None,
        tags=None,
        format=Format.STANDARD,
        description=None,
        enabled=True,
        disabled_reason=None,
        owner_id=account.id,
        created_at=AT,
        updated_at=AT,
    )
    await store_all(database, account, project)
    async with database.transaction() as transaction:
        await create_webhook(transaction.connection, webhook, b"sealed")
        actor = Actor(account.id, account.email)
        await record(transaction, change_of(actor, "webhook.created", AT, Scope(), after=webhook))
    with pytest.raises(Error, match=r"would drop the agreement of 1 projects.*, the owners of 1 webhooks"):
        await migrate_store(store, "0042")
    await migrate_store(store, "0042", force=True)
    await migrate_store(store)
    async with database.read() as connection:
        found = await find_project(connection, project.id)
        assert found is not None
        assert not found.shares_contents
        assert await find_webhook(connection, webhook.id) == webhook


async def test_a_downgrade_that_would_keep_a_history_longer_is_refused_unless_it_is_forced(
    database: Database, store: Store
) -> None:
    account = make_account()
    project = replace(make_project(account.id), history_retention_days=7)
    environment = replace(make_environment(project.id), history_retention_days=3)
    await store_all(database, account, project, environment)
    with pytest.raises(Error, match=r"for how long 1 projects keep their history.*, for how long 1 environments"):
        await migrate_store(store, "0051")
    await migrate_store(store, "0051", force=True)
    await migrate_store(store)
    async with database.read() as connection:
        found = await find_project(connection, project.id)
        assert found is not None
        assert found.history_retention_days is None
        assert await list_retentions(connection) == {environment.id: None}


async def test_a_downgrade_that_would_let_all_keys_count_for_a_release_is_refused_unless_it_is_forced(
    database: Database, store: Store
) -> None:
    account = make_account()
    project = make_project(account.id)
    environment = make_environment(project.id)
    flag = make_flag(project_id=project.id, environment_id=environment.id)
    await store_all(database, account, project, environment, flag)
    place = {"project_id": project.id, "environment_id": environment.id, "flag_id": flag.id}
    release = make_release(**place, counts=Counts.SERVER_KEYS)
    async with database.transaction() as transaction:
        await create_release(transaction.connection, release)
        assert await get_release(transaction.connection, flag.id, release.id) == release
    at = tables.microseconds(AT)
    group = EventGroup(environment.id, [EventRow("errors", "ada", at, None, None)], {}, KeyKind.BROWSER)
    async with database.write_history() as connection:
        await write_events(connection, EventBatch(1, at, [group]))
    with pytest.raises(Error, match=r"would drop that 1 releases count only what server keys send"):
        await migrate_store(store, "0055")
    await migrate_store(store, "0055", force=True)
    await migrate_store(store)
    async with database.read() as connection:
        assert await get_release(connection, flag.id, release.id) == replace(release, counts=Counts.ALL)
    async with database.read_history() as connection:
        (found,) = (await event_segments.list_after(connection, 1, {"errors"}, after=0, last=1)).events
    assert (found.unit, found.key_kind) == ("ada", None)


async def test_releases_act_for_their_authors_without_the_token_after_a_downgrade(
    database: Database, store: Store
) -> None:
    account = make_account()
    project = make_project(account.id)
    environment = make_environment(project.id)
    flag = make_flag(project_id=project.id, environment_id=environment.id)
    await store_all(database, account, project, environment, flag)
    place = {"project_id": project.id, "environment_id": environment.id, "flag_id": flag.id}
    author = {"author_id": account.id, "author_email": account.email, "token_id": uuid4(), "token_name": "Deployments"}
    state = {"state": "running", "false_alarm_rate": 0.05, "when_late": "run", "mark": 0}
    values = {"id": uuid4(), **place, **author, **state, "counts_from": AT, "created_at": AT, "updated_at": AT}
    async with database.transaction() as transaction:
        await transaction.connection.execute(tables.releases.insert().values(values))
    with pytest.raises(Error, match=r"would drop the access tokens of 1 open releases"):
        await migrate_store(store, "0043")
    await migrate_store(store, "0043", force=True)
    await migrate_store(store)
    async with database.read() as connection:
        release = await find_release(connection, values["id"])
    assert release is not None
    assert (release.author_id, release.token_id, release.lost_authority) == (account.id, None, False)


async def test_a_downgrade_that_would_reactivate_accounts_is_refused_unless_it_is_forced(
    database: Database, store: Store
) -> None:
    account = make_account(is_administrator=True, deactivated_at=AT)
    await store_all(database, account)
    with pytest.raises(Error, match=r"would drop the deactivation of 1 accounts\."):
        await migrate_store(store, "0015")
    async with database.read() as connection:
        assert await find_account(connection, account.id) == account
    await migrate_store(store, "0015", force=True)
    await migrate_store(store)
    async with database.read() as connection:
        assert await find_account(connection, account.id) == replace(
            account, is_administrator=False, deactivated_at=None, email_verified_at=AT
        )


async def test_present_accounts_keep_their_mails_and_of_two_with_one_mailbox_each_is_found_by_its_spelling(
    database: Database, store: Store
) -> None:
    await migrate_store(store, "0040")
    spellings = ["ada@bücher.example", "Ada@xn--bcher-kva.example", "eve@bücher.example"]
    async with database.transaction() as transaction:
        for number, email in enumerate(spellings):
            values = {"id": uuid4(), "email": email, "email_identity": email.lower(), "password_hash": "x"}
            at = AT + timedelta(seconds=number)
            statement = tables.accounts.insert().values({**values, "created_at": at, "is_administrator": False})
            await transaction.connection.execute(statement)
    await migrate_store(store)
    async with database.read() as connection:
        accounts = [await find_account_by_email(connection, each) for each in (*spellings, "eve@XN--bcher-kva.example")]
    assert [each and each.email for each in accounts] == [*spellings, spellings[2]]
    assert all(each is not None and each.email_verified_at == each.created_at for each in accounts)


async def test_a_downgrade_that_would_drop_second_factors_is_refused_unless_it_is_forced(
    database: Database, store: Store
) -> None:
    account, other = make_account(), make_account()
    await store_all(database, account, other)
    secret = TotpSecret(account.id, b"sealed", created_at=AT, confirmed_at=AT, last_step=1)
    async with database.transaction() as transaction:
        await save_totp(transaction.connection, secret)
        await save_totp(transaction.connection, replace(secret, account_id=other.id, confirmed_at=None))
    with pytest.raises(Error, match=r"would drop the second factors of 1 accounts\."):
        await migrate_store(store, "0016")
    async with database.read() as connection:
        assert await find_totp(connection, account.id) == secret
    await migrate_store(store, "0016", force=True)
    await migrate_store(store)
    async with database.read() as connection:
        assert await find_totp(connection, account.id) is None


async def test_a_downgrade_that_would_drop_identities_is_refused_unless_it_is_forced(
    database: Database, store: Store
) -> None:
    account = make_account()
    identity = Identity("https://id.acme.com", "ada", account.id, AT, is_only_way=True)
    await store_all(database, account)
    async with database.transaction() as transaction:
        await create_identity(transaction.connection, identity)
    with pytest.raises(Error, match=r"would drop the identities of 1 accounts at providers\."):
        await migrate_store(store, "0017")
    async with database.read() as connection:
        assert await find_identity(connection, identity.issuer, identity.subject) == identity
    await migrate_store(store, "0017", force=True)
    await migrate_store(store)
    async with database.read() as connection:
        assert await find_identity(connection, identity.issuer, identity.subject) is None


async def test_a_downgrade_drops_what_was_recorded_with_variants(database: Database, store: Store) -> None:
    environment_id = uuid4()
    needing = LayoutFlag(uuid4(), "needing", 0, Outcome.ON, (Decider(Outcome.PREREQUISITE, prerequisite="other"),))
    varied = LayoutFlag(uuid4(), "varied", 0, Outcome.ON, variants=("red", "blue"))
    layout = make_layout(recorded=(needing, varied))
    await write(database, make_batch(environment_id, layout, make_record(recorded=b"\x65\x64\x01")))
    async with database.write_history() as connection:
        await roll_up(connection, 1)
    await write(database, make_batch(environment_id, layout, make_record(recorded=b"\x64\x64\x00")))
    assert [each.variant for record in await read(database, environment_id) for each in record.decisions()][:3] == [
        None,
        "red",
        None,
    ]
    with pytest.raises(Error, match="would drop 2 recorded evaluations with such flags"):
        await migrate_store(store, "0008")
    await migrate_store(store, "0008", force=True)
    await migrate_store(store)
    assert await read(database, environment_id) == []
    found = await summarise_by_minute(database, environment_id)
    assert {(key, outcome) for _, key, _, outcome in found} == {("varied", Outcome.ON), ("off", Outcome.OFF)}


async def test_a_downgrade_that_would_drop_attributes_is_refused_unless_it_is_forced(
    database: Database, store: Store
) -> None:
    environment_id, kept = uuid4(), [b'{"plan":"gold"}', b"{}"]
    layouts = [make_layout(), make_layout(attributes=("plan",))]
    decider = Decider(Outcome.ATTRIBUTES_RULE, uuid4())
    ruled = LayoutFlag(uuid4(), "rule", 0, Outcome.NO_RULE, (decider,))
    varied = LayoutFlag(uuid4(), "varied", 0, Outcome.ON, variants=("red", "blue"))
    layouts += [make_layout(recorded=(flag,), attributes=("plan",)) for flag in (ruled, varied)]
    for place, layout in enumerate(layouts):
        records = [make_record(place, recorded=each[: layout.width]) for each in (b"\x64\x01", b"\x64\x00")]
        values = {"attributes": kept} if layout.attributes else {}
        await write(database, make_batch(environment_id, layout, *records, **values))
    before, counts = await read(database, environment_id), await summarise_by_minute(database, environment_id)
    with pytest.raises(Error, match=r"would drop the attributes of 6 recorded evaluations\. .* --force"):
        await migrate_store(store, "0009")
    assert await read(database, environment_id) == before
    await migrate_store(store, "0009", force=True)
    assert await run_on(store, versions_of_history) == ([1, 1, 1, 1], [1, 1, 3, 4])
    await migrate_store(store)
    after = await read(database, environment_id)
    assert [each.id for each in after] == [each.id for each in before]
    assert [each.decisions() for each in after] == [each.decisions() for each in before]
    assert {each.attributes for each in after} == {None}
    assert await summarise_by_minute(database, environment_id) == counts
    await write(database, make_batch(environment_id, layouts[2], make_record(9, recorded=b"\x65"), attributes=kept[:1]))
    assert (await read(database, environment_id))[0].attributes == {"plan": "gold"}


async def test_a_downgrade_that_would_drop_evaluations_of_single_flags_is_refused_unless_it_is_forced(
    database: Database, store: Store
) -> None:
    environment_id, layout = uuid4(), make_layout()
    await write(database, make_batch(environment_id, layout, *(make_record(place) for place in range(100))))
    before = await read(database, environment_id)
    rows, flags = (b"\5", b"\5\x64", b""), (0, None, 2)
    records = [make_record(200 + place, recorded=row) for place, row in enumerate(rows)]
    await write(database, make_batch(environment_id, layout, *records, flags=flags))
    with pytest.raises(Error, match=r"would drop 3 recorded evaluations, of single flags .* --force"):
        await migrate_store(store, "0044")
    assert len(await read(database, environment_id)) == 103
    await migrate_store(store, "0044", force=True)
    assert await read(database, environment_id) == before
    await migrate_store(store)
    assert await read(database, environment_id) == before
    counts = await summarise_by_minute(database, environment_id)
    assert sum(times for (_, key, *_), times in counts.items() if key == "rollout") == 102


async def test_a_downgrade_that_would_send_events_again_is_refused_unless_it_is_forced(
    database: Database, store: Store
) -> None:
    async with database.write_history() as connection:
        await connection.execute(tables.delivered_events.insert().values(environment_id=uuid4(), segment=7))
    with pytest.raises(Error, match=r"would drop how far the events of 1 environments were sent"):
        await migrate_store(store, "0046")
    await migrate_store(store, "0046", force=True)
    await migrate_store(store)


async def test_origins_survive_a_downgrade_and_an_upgrade(database: Database, store: Store) -> None:
    environment_id = uuid4()
    origins = Origins([Origin(3, uuid4(), "ofrep", "first"), Origin(4, None, "evaluate", "first")], [0, 1])
    await write(database, make_batch(environment_id, make_layout(), make_record(), make_record(1), origins=origins))
    before = await read(database, environment_id)
    assert [each.origin for each in before] == [*origins.known][::-1]
    await migrate_store(store, "0046")
    await migrate_store(store)
    assert await read(database, environment_id) == before


def versions_of_history(connection: sa.Connection) -> tuple[list[int], list[int]]:
    """Return the versions of all segments and layouts."""
    segments, layouts = (
        list(connection.execute(sa.select(table.c.version).order_by(table.c.id)).scalars())
        for table in (tables.segments, tables.layouts)
    )
    return segments, layouts


async def test_partitions_come_and_go_with_all_rows_while_others_write(
    postgres_template: PostgresServer, data_directory: Path
) -> None:
    async with postgresql_store(postgres_template, data_directory) as store:
        database, environment_id = Database(store.database_url, data_directory), uuid4()
        await write(database, make_batch(environment_id, make_layout(), make_record(0)))
        await HistoryRetention(database, lambda: AT, timedelta(days=90)).prepare_days()
        days = [make_record(days * 86_400) for days in range(1, 6)]
        await write(database, make_batch(environment_id, make_layout(), *days))
        earlier = await asyncpg.connect(store.database_url)
        try:
            # An instance of the previous release does this, and keeps its prepared statements.
            columns = "environment, layout_id, first_time, last_time, size, user_hashes, email_hashes, content, version"
            values = f"SELECT {columns} FROM history.segments ORDER BY id DESC LIMIT 1"
            add = await earlier.prepare(f"INSERT INTO history.segments ({columns}) {values} RETURNING id")
            grow = await earlier.prepare("UPDATE history.segments SET size = size WHERE id = $1 RETURNING id")
            ids = [await add.fetchval()]
            for revision in ("0022", "head"):
                await migrate(store.database_url, data_directory, revision)
                ids.append(await add.fetchval())
                assert await grow.fetchval(ids[-1]) == ids[-1]
        finally:
            await earlier.close()
        assert ids == [ids[0], ids[0] + 1, ids[0] + 2]
        assert len(await read(database, environment_id)) == 9
        await database.close()
