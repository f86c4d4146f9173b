"""Each migration since the previous release keeps everything that the previous release needs."""

import re
from pathlib import Path

import sqlalchemy as sa

from flagstaff.database.migrate import migrate
from flagstaff.database.migration_scripts import named_oldest_supported
from flagstaff.database.schema_state import known_revisions
from tests.support.postgres import PostgresServer
from tests.support.schemas import Schema, find_contractions, read_schema, run_on
from tests.support.stores import Store, postgresql_store
from tests.upgrade.previous import find_previous_revision


async def schema_after(store: Store, *statements: str) -> Schema:
    def change(connection: sa.Connection) -> Schema:
        for each in statements:
            connection.execute(sa.text(each))
        return read_schema(connection)

    schema: Schema = await run_on(store, change)
    return schema


async def test_migrations_since_the_previous_release_only_add(bare_store: Store) -> None:
    previous = find_previous_revision()
    await migrate(bare_store.database_url, bare_store.data_directory, previous)
    before = await schema_after(bare_store)
    named = named_oldest_supported()
    for revision in known_revisions()[known_revisions().index(previous) + 1 :]:
        await migrate(bare_store.database_url, bare_store.data_directory, revision)
        after = await schema_after(bare_store)
        if revision in named:
            assert named[revision] <= previous, f"the previous release ({previous}) needs what {revision} takes away"
        else:
            assert not list(find_contractions(before, after)), f"{revision} must only add: see CONTRIBUTING.md"
        before = after


async def test_what_breaks_the_version_before_is_found(store: Store) -> None:
    # The two databases name an index in another schema differently.
    index = "sdks ON history.reported_counts" if store.database_url else "history.sdks ON reported_counts"
    before = await schema_after(store)
    after = await schema_after(
        store,
        "DROP TABLE history.reported_windows",
        "ALTER TABLE history.connections DROP COLUMN sdk",
        "ALTER TABLE instances RENAME COLUMN version TO release",
        "CREATE UNIQUE INDEX addresses ON instances (address)",
        f"CREATE INDEX {index} (sdk)",
        "DROP TABLE idempotency_keys",
        "CREATE TABLE idempotency_keys (account_id INTEGER, key TEXT, load TEXT NOT NULL)",
    )
    found = list(find_contractions(before, after))
    assert "history.reported_windows is missing" in found
    assert "history.connections.sdk is missing" in found
    assert "instances.version is missing" in found
    assert "instances has a new unique key (address), which rows may violate" in found
    assert "history.reported_counts is large and has a new index (sdk), which blocks writes" in found
    assert any(re.match(r"idempotency_keys.account_id is INTEGER instead of ", each) for each in found)
    assert "idempotency_keys.load is new, NOT NULL, and has no server default" in found
    assert "idempotency_keys has lost its primary key (account_id, key): ON CONFLICT may need it" in found


async def test_what_only_postgresql_can_change_is_found(
    postgres_template: PostgresServer, data_directory: Path
) -> None:
    async with postgresql_store(postgres_template, data_directory) as store:
        before = await schema_after(store)
        after = await schema_after(
            store,
            "ALTER TABLE changes ALTER COLUMN flag_key SET NOT NULL",
            "ALTER TABLE instances ADD CHECK (renewals > 0)",
        )
    # The database returns the tables in any order.
    assert sorted(find_contractions(before, after)) == [
        "changes.flag_key has become NOT NULL",
        "instances has a new check renewals > 0, which rows may violate",
    ]


async def test_what_only_adds_is_allowed(store: Store) -> None:
    before = await schema_after(store)
    after = await schema_after(
        store,
        "ALTER TABLE instances ADD COLUMN one TEXT",
        "ALTER TABLE instances ADD COLUMN other TEXT NOT NULL DEFAULT ''",
        "CREATE TABLE another (id INTEGER NOT NULL)",
        "CREATE INDEX addresses ON instances (address)",
    )
    assert not list(find_contractions(before, after))
