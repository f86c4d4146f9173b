"""`flagstaff history export`: the files contain each evaluation once, even after interruptions."""

# ruff: noqa: ASYNC230, ASYNC240 - nothing else runs on the loop of these tests

import gzip
import json
import os
import random
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4
from zoneinfo import ZoneInfo

import msgspec
import pytest
import sqlalchemy as sa
from uuid_utils.compat import uuid7

from flagstaff.cli.history.choices import FileFormat, find_form
from flagstaff.cli.history.directory import open_directory
from flagstaff.cli.history.manifest import ExportedFile
from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.evaluation.history.layout import Layout, LayoutFlag
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.history.store.batches import find_environment_number
from flagstaff.history.store.deletions import delete_segments, hide_evaluations
from flagstaff.history.store.distinct_users.user_rollups import roll_up_users
from flagstaff.history.store.following import SEGMENTS_AT_ONCE, Position
from flagstaff.projects import environments_store
from flagstaff.projects.hidden_environments_store import hide_environments
from flagstaff.projects.projects import Environment
from flagstaff.values.errors import Code, Error
from tests.support.builders import store_environment
from tests.support.command import run_flagstaff
from tests.support.forks import ForkedProcess
from tests.support.history import START, make_batch, make_layout, make_record, read, write
from tests.support.stores import Store

DAY = 86_400
LAYOUT = make_layout()


@pytest.fixture
async def environment(database: Database) -> Environment:
    """The environment `production` of a project."""
    return await store_environment(database)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """The directory to export to, which does not exist yet."""
    return tmp_path / "export"


def export(store: Store, *arguments: object) -> subprocess.CompletedProcess[str]:
    return run_flagstaff("history", "export", *map(str, arguments), environ=store.environ)


def export_all(store: Store, environment: Environment, target: Path, *arguments: object) -> str:
    done = export(store, "--project", environment.project_id, "--directory", target, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def lines(target: Path, tz: str = "UTC") -> list[dict[str, Any]]:
    found = []
    for path in sorted(target.glob("*.jsonl.gz"), key=lambda path: path.name.rsplit("-", 1)[1]):
        of_file = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
        times = [datetime.fromisoformat(each["evaluated_at"]).astimezone(ZoneInfo(tz)) for each in of_file]
        assert {each.date().isoformat() for each in times} == {path.name[:10]}
        found += of_file
    return found


async def ids(database: Database, environment: Environment) -> list[str]:
    return sorted(str(each.id) for each in await read(database, environment.id))


def exported_ids(target: Path) -> list[str]:
    return sorted(each["id"] for each in lines(target))


async def count_users(database: Database, environment: Environment) -> None:
    async with database.write_history() as connection:
        number = await find_environment_number(connection, environment.id)
        assert number is not None
        await roll_up_users(connection, number)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--from", "yesterday"], "--from must be a time with its offset from UTC, or a date, between 1971 and"),
        (["--to", "2026-11-20T10:00:00"], "--to must be a time with its offset from UTC, or a date"),
        (["--from", "2026-11-20", "--to", "2026-11-20"], "--from must be before --to"),
        (["--tz", "Berlin"], "--tz must be the name of a time zone, such as Europe/Berlin"),
        (["--environment", "prod"], "The project has no environment 'prod'. Its environments are production."),
        (["--enabled"], "--enabled requires --flag or --flag-id, which name the flag"),
        (["--variant", "blue"], "--variant requires --flag or --flag-id, which name the flag"),
    ],
)
async def test_options_that_say_nothing_are_refused(
    store: Store, environment: Environment, target: Path, options: list[str], reason: str
) -> None:
    refused = export(store, "--project", environment.project_id, "--directory", target, *options)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert reason in refused.stderr
    assert not target.exists()


async def test_an_unknown_project_is_refused(store: Store, target: Path) -> None:
    project = uuid4()
    refused = export(store, "--project", project, "--directory", target)
    assert (refused.returncode, refused.stderr) == (1, f"flagstaff: There is no project {project}.\n")
    assert not target.exists()


async def test_a_directory_with_something_else_is_refused_and_left_alone(
    store: Store, database: Database, environment: Environment, target: Path
) -> None:
    await write(database, make_batch(environment.id, LAYOUT, make_record()))
    target.mkdir()
    (target / "notes").write_text("keep me")
    arguments = ("--project", environment.project_id, "--directory", target)
    assert "is not empty, and contains no export" in export(store, *arguments).stderr
    assert [path.name for path in target.iterdir()] == ["notes"]
    (target / "notes").unlink()
    export_all(store, environment, target)
    kept = {path: path.read_bytes() for path in target.iterdir()}
    refused = export(store, *arguments, "--user-id", "ada", "--from", "2026-11-20")
    assert "an export with other options: from was not given; user_id was not given." in refused.stderr
    assert {path: path.read_bytes() for path in target.iterdir()} == kept


def test_a_directory_that_another_process_writes_is_refused(target: Path) -> None:
    with (
        open_directory(target, {}),
        pytest.raises(Error, match="Another export is writing to") as refusal,
        open_directory(target, {}),
    ):
        pass
    assert refusal.value.code is Code.CONFLICT


def test_a_manifest_with_names_of_other_files_is_refused_and_changes_nothing(target: Path) -> None:
    victim = target.parent / "victim"
    victim.write_text("keep me")
    with open_directory(target, {}) as directory:
        directory.keep({}, uuid4(), Position(7))
    manifest = json.loads((target / "manifest.json").read_bytes())
    waiting = target / ".left.part"
    waiting.write_text("not an export's")
    for name in ("../victim", "..", "/etc/passwd", "left", "manifest.json", ""):
        entry = {"name": name, "environment": "production", "day": "2026-11-20", "records": 1, "bytes": 4}
        (target / "manifest.json").write_text(json.dumps({**manifest, "files": [entry]}))
        with (
            pytest.raises(Error, match="which is not the name of an exported file") as refusal,
            open_directory(target, {}),
        ):
            pass
        assert refusal.value.code is Code.CONFLICT
    assert victim.read_text() == "keep me"
    assert waiting.exists()


def test_a_hidden_file_of_something_else_is_kept(target: Path) -> None:
    target.mkdir()
    stranger = target / ".download.part"
    stranger.write_text("keep me")
    with pytest.raises(Error, match="is not empty, and contains no export"), open_directory(target, {}):
        pass
    stranger.rename(target.parent / stranger.name)
    with open_directory(target, {}) as directory:
        directory.keep({}, uuid4(), Position(7))
    (target.parent / stranger.name).rename(stranger)
    with open_directory(target, {}):
        pass
    assert stranger.read_text() == "keep me"


def test_symbolic_links_of_others_are_replaced_and_not_followed(target: Path) -> None:
    victim = target.parent / "victim"
    victim.write_text("keep me")
    file = ExportedFile("2026-11-20-production-000001.jsonl.gz", "production", "2026-11-20", 1, 4)
    with open_directory(target, {}) as directory:
        for name in (".new-0.part", ".manifest.json.part"):
            (target / name).symlink_to(victim)
        with directory.new_file(0) as opened:
            opened.write(b"data")
        directory.keep({0: file}, uuid4(), Position(7))
    assert victim.read_text() == "keep me"
    assert (target / file.name).read_bytes() == b"data"
    assert not [path for path in target.iterdir() if path.is_symlink()]
    assert {path.stat().st_mode & 0o777 for path in target.iterdir()} == {0o600}


def test_without_pyarrow_the_refusal_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "flagstaff.cli.history.parquet", None)
    with pytest.raises(Error, match=r"pip install 'flagstaff\[parquet\]'"):
        find_form(FileFormat.PARQUET, of_events=False)


def test_a_full_disk_is_said_and_leaves_what_was_complete(target: Path) -> None:
    environment_id = uuid4()
    file = ExportedFile("2026-11-20-production-000001.jsonl.gz", "production", "2026-11-20", 1, 4)
    with open_directory(target, {}) as directory:
        with directory.new_file(0) as opened:
            opened.write(b"data")
        directory.keep({0: file}, environment_id, Position(7, {7: 1}))
    before = (target / "manifest.json").read_bytes()
    with (
        pytest.raises(Error, match=r"no space left for .* run the same command again: it continues"),
        open_directory(target, {}) as directory,
        directory.new_file(0) as opened,
        Path("/dev/full").open("wb", buffering=0) as full,
    ):
        full.write(opened.name.encode())
    assert sorted(path.name for path in target.iterdir()) == [file.name, "manifest.json"]
    assert (target / "manifest.json").read_bytes() == before
    with open_directory(target, {}) as directory:
        assert directory.manifest.position(environment_id) == Position(7, {7: 1})


async def test_each_run_adds_what_was_recorded_since(
    store: Store, database: Database, environment: Environment, target: Path
) -> None:
    assert "Wrote 0 evaluations in 0 files" in export_all(store, environment, target)
    # Small segments are continued by later batches until their users are counted.
    for users in (["ada", "bob"], ["eve"], []):
        seconds = len(await ids_or_none(database, environment))
        records = [make_record(seconds + place, user) for place, user in enumerate(users)]
        await write(database, make_batch(environment.id, LAYOUT, *records))
        assert f"Wrote {len(users)} evaluations in" in export_all(store, environment, target)
    await count_users(database, environment)
    await write(database, make_batch(environment.id, LAYOUT, make_record(DAY, "late"), make_record(-DAY, "early")))
    export_all(store, environment, target)
    assert [each["user_id"] for each in lines(target)] == ["ada", "bob", "eve", "late", "early"]
    assert exported_ids(target) == await ids(database, environment)


async def ids_or_none(database: Database, environment: Environment) -> list[str]:
    async with database.read_history() as connection:
        known = await find_environment_number(connection, environment.id) is not None
    return await ids(database, environment) if known else []


async def test_any_mixture_of_batches_countings_and_runs_exports_each_evaluation_once(
    store: Store, database: Database, environment: Environment, target: Path
) -> None:
    chosen = random.Random(12)  # the same steps each time
    for _ in range(6):
        for _ in range(chosen.randrange(12)):
            start = chosen.choice((0, 10, 3590, DAY - 10))
            records = [make_record(start + place / 10) for place in range(chosen.choice((1, 3, 60, 130)))]
            await write(database, make_batch(environment.id, LAYOUT, *records))
            if chosen.random() < 0.2:
                await count_users(database, environment)
        export_all(store, environment, target)
    found = await ids(database, environment)
    assert exported_ids(target) == found
    assert len(found) == len(set(found)) > 1000


@pytest.mark.parametrize("file_format", ["jsonl", "parquet"])
async def test_midnight_makes_two_files_however_often_instances_take_turns(
    store: Store, database: Database, environment: Environment, target: Path, file_format: str
) -> None:
    midnight = 14 * 3600  # after the start
    for turn in range(40):
        for start in (midnight - 60, midnight):
            records = [make_record(start + turn + place / 1000, f"user-{turn}") for place in range(120)]
            await write(database, make_batch(environment.id, LAYOUT, *records))
    export_all(store, environment, target, "--format", file_format)
    names = sorted(path.name for path in target.glob(f"*.{file_format}*"))
    assert [name[:28] for name in names] == ["2026-11-20-production-000001", "2026-11-21-production-000002"]
    listed = json.loads((target / "manifest.json").read_bytes())["files"]
    assert [each["records"] for each in listed] == [4800, 4800]


async def test_an_export_of_an_earlier_form_is_refused(target: Path) -> None:
    with open_directory(target, {}) as directory:
        directory.keep({}, uuid4(), Position(7))
    manifest = json.loads((target / "manifest.json").read_bytes())
    (target / "manifest.json").write_text(json.dumps({**manifest, "version": 1}))
    with pytest.raises(Error, match="whose files have other columns") as refusal, open_directory(target, {}):
        pass
    assert refusal.value.code is Code.CONFLICT


async def test_what_the_retention_hides_or_deletes_is_left_out(
    store: Store, database: Database, environment: Environment, target: Path
) -> None:
    await write(database, make_batch(environment.id, LAYOUT, make_record(0), make_record(10)))
    export_all(store, environment, target)
    await write(database, make_batch(environment.id, LAYOUT, make_record(20), make_record(30), make_record(7200)))
    async with database.write_history() as connection:
        number = await find_environment_number(connection, environment.id)
        assert number is not None
        await hide_evaluations(connection, number, START + timedelta(seconds=25))
    assert "Wrote 2 evaluations" in export_all(store, environment, target)
    await write(database, make_batch(environment.id, LAYOUT, make_record(7201)))
    async with database.write_history() as connection:
        await delete_segments(connection, number, None, limit=50)
    assert "Wrote 0 evaluations" in export_all(store, environment, target)


async def test_the_options_choose_evaluations(
    store: Store, database: Database, environment: Environment, tmp_path: Path
) -> None:
    first = make_record(0, "ada", b"\x05\x64", user_email="Ada@example.com")
    await write(database, make_batch(environment.id, LAYOUT, first, make_record(DAY - 1, "bob", b"\x63\x64")))
    for number, (options, users) in enumerate(
        (
            (["--user-id", "bob"], ["bob"]),
            (["--user-email", "ada@EXAMPLE.com"], ["ada"]),
            (["--flag", "rollout", "--enabled"], ["ada"]),
            (["--flag", "rollout", "--disabled"], ["bob"]),
            (["--flag", "absent"], []),
            (["--from", "2026-11-20T10:00:01Z", "--to", "2026-11-22"], ["bob"]),
            (["--to", "2026-11-21T10:59:59+01:00", "--environment", "production"], ["ada"]),
        )
    ):
        target = tmp_path / str(number)
        export_all(store, environment, target, *options)
        assert [each["user_id"] for each in lines(target)] == users, options


async def test_files_have_the_days_of_a_time_zone_and_dates_begin_there(
    store: Store, database: Database, environment: Environment, target: Path
) -> None:
    # Midnight in Kathmandu is at 18:15 UTC, within an hour whose evaluations are stored together.
    midnight = datetime(2026, 11, 20, 18, 15, tzinfo=UTC)
    start = (midnight - START).total_seconds()
    users = {"-1": -1.0, "0": 0.0, "1": 1.0, "next day": DAY - 1.0, "after": float(DAY)}
    await write(database, make_batch(environment.id, LAYOUT, *(make_record(start + at, u) for u, at in users.items())))
    arguments = ("--tz", "Asia/Kathmandu", "--from", "2026-11-21", "--to", "2026-11-22")
    assert "Wrote 3 evaluations in 1 files" in export_all(store, environment, target, *arguments)
    assert [each["user_id"] for each in lines(target, "Asia/Kathmandu")] == ["0", "1", "next day"]
    whole = target.parent / "whole"
    assert "Wrote 5 evaluations in" in export_all(store, environment, whole, "--tz", "Asia/Kathmandu")
    assert len(lines(whole, "Asia/Kathmandu")) == 5
    refused = export(store, "--project", environment.project_id, "--directory", whole)
    assert "an export with other options: tz was Asia/Kathmandu" in refused.stderr


def flag_of(key: str) -> LayoutFlag:
    return LayoutFlag(uuid7(), key, 50, Outcome.NOT_IN_ROLLOUT)


async def evaluate(database: Database, environment_id: UUID, flag: LayoutFlag, *users: str) -> None:
    records = [make_record(place, user, b"\x01") for place, user in enumerate(users)]
    await write(database, make_batch(environment_id, Layout((flag,), ()), *records))


async def test_the_key_of_a_flag_stands_for_one_flag_and_names_the_others_that_had_it(
    store: Store, database: Database, environment: Environment, target: Path
) -> None:
    first, second, third = (flag_of("often") for _ in range(3))
    await evaluate(database, environment.id, first, "ada", "bob")
    await evaluate(database, environment.id, second, "eve")
    arguments = ("--project", environment.project_id, "--directory", target, "--flag", "often")
    done = export(store, *arguments)
    assert [each["user_id"] for each in lines(target)] == ["eve"]
    assert "another flag with the key often has 2 results, which are not exported here" in done.stderr
    assert f"--flag-id {first.id}" in done.stderr
    # Another flag gets the key: the directory keeps the flag that it began with.
    await evaluate(database, environment.id, third, "grace", "heidi", "ivan")
    await evaluate(database, environment.id, second, "judy")
    done = export(store, *arguments)
    assert [each["user_id"] for each in lines(target)] == ["eve", "judy"]
    assert "another flag with the key often has 3 results" in done.stderr
    assert f"to another directory with --flag-id {third.id}" in done.stderr
    for flag, users in ((first, ["ada", "bob"]), (third, ["grace", "heidi", "ivan"])):
        own = target.parent / str(flag.id)
        export_all(store, environment, own, "--flag-id", flag.id, "--enabled")
        assert [each["user_id"] for each in lines(own)] == users


async def test_files_of_an_environment_that_was_deleted_and_created_again_are_told_apart(
    store: Store, database: Database, environment: Environment, target: Path
) -> None:
    await evaluate(database, environment.id, flag_of("often"), "ada")
    export_all(store, environment, target)
    again = replace(environment, id=uuid7())
    async with database.transaction() as transaction:
        await hide_environments(transaction.connection, [environment.id])
        await environments_store.create_environment(transaction.connection, again)
    await evaluate(database, again.id, flag_of("often"), "eve")
    done = export(store, "--project", environment.project_id, "--directory", target)
    assert f"Earlier files of production are of the deleted environment {environment.id}" in done.stderr
    files = json.loads((target / "manifest.json").read_bytes())["files"]
    assert [each["environment_id"] for each in files] == [str(environment.id), str(again.id)]
    assert [(each["user_id"], each["environment_id"]) for each in lines(target)] == [
        ("ada", str(environment.id)),
        ("eve", str(again.id)),
    ]


async def test_a_run_that_is_killed_is_continued(
    store: Store, database: Database, environment: Environment, target: Path
) -> None:
    records = [make_record(hour * 3600, random.randbytes(8).hex()) for hour in range(24 * 60)]
    await write(database, make_batch(environment.id, LAYOUT, *records))
    arguments = ("history", "export", "--project", str(environment.project_id), "--directory", str(target))
    expected = await ids(database, environment)
    for files in (3, 20):
        with (target.parent / "output").open("wb") as output, Path(os.devnull).open("rb") as given:
            process = ForkedProcess(
                arguments,
                environ={"PATH": os.environ["PATH"], **store.environ},
                given=given,
                output=output,
                errors=output,
            )
            try:
                while len([*target.glob("*.gz")]) < files and process.returncode is None:
                    pass
            finally:
                process.kill()
                process.wait_blocking(20)
        listed = {each["name"] for each in json.loads((target / "manifest.json").read_bytes())["files"]}
        assert {path.name for path in target.glob("*.gz")} <= listed, "files have their name before they are listed"
    export_all(store, environment, target)
    assert exported_ids(target) == expected


async def set_segment(database: Database, place: int, **values: object) -> None:
    """Change the row of a segment, given by its place in the order of ids."""
    segments = tables.segments
    async with database.write_history() as connection:
        ids = (await connection.execute(sa.select(segments.c.id).order_by(segments.c.id))).scalars().all()
        await connection.execute(segments.update().where(segments.c.id == ids[place]).values(**values))


@pytest.mark.parametrize("damaged", ["content", "users", "attributes"])
async def test_a_damaged_segment_is_left_out_and_counted_once(
    store: Store, database: Database, environment: Environment, target: Path, damaged: str
) -> None:
    values = {"attributes": (b'{"plan":"gold"}',) * 3, "has_all": True}
    layout = make_layout(attributes=("plan",))
    records = [make_record(hour * 3600, user) for hour, user in enumerate(("ada", "bob", "eve"))]
    await write(database, make_batch(environment.id, layout, *records, **values))
    async with database.read_history() as connection:
        columns = msgspec.msgpack.decode(
            (await connection.execute(sa.select(tables.segments.c.content))).scalars().all()[1]
        )
    columns = [*columns[:1], [7], *columns[2:]] if damaged == "users" else [*columns[:4], b"damaged", True]
    content = b"\xc1" if damaged == "content" else msgspec.msgpack.encode(columns)
    await set_segment(database, 1, content=content)
    ended = export(store, "--project", environment.project_id, "--directory", target)
    assert (ended.returncode, ended.stdout[:21]) == (1, "Wrote 2 evaluations i")
    assert "flagstaff: 1 damaged segment(s) of the history could not be read" in ended.stderr
    assert "history_row_damaged" in ended.stderr
    assert "Wrote 0 evaluations" in export_all(store, environment, target)
    assert [each["user_id"] for each in lines(target)] == ["ada", "eve"]


async def test_what_only_a_newer_version_can_read_ends_a_run_and_is_not_passed(
    store: Store, database: Database, environment: Environment, target: Path
) -> None:
    records = [make_record(hour * 3600) for hour in range(SEGMENTS_AT_ONCE + 3)]
    await write(database, make_batch(environment.id, LAYOUT, *records))
    await set_segment(database, SEGMENTS_AT_ONCE + 1, version=99)
    for _ in range(2):
        refused = export(store, "--project", environment.project_id, "--directory", target)
        assert (refused.returncode, refused.stdout) == (1, "")
        assert "segments of version 99 are unknown to this version of Flagstaff" in refused.stderr
        assert len(lines(target)) == SEGMENTS_AT_ONCE
    await set_segment(database, SEGMENTS_AT_ONCE + 1, version=1)
    assert "Wrote 3 evaluations" in export_all(store, environment, target)
    assert exported_ids(target) == await ids(database, environment)


async def test_flags_that_only_a_newer_version_knows_end_a_run(
    store: Store, database: Database, environment: Environment, target: Path
) -> None:
    await write(database, make_batch(environment.id, LAYOUT, make_record()))
    async with database.write_history() as connection:
        version = await connection.scalar(sa.select(tables.layouts.c.version))
        await connection.execute(tables.layouts.update().values(version=99))
    refused = export(store, "--project", environment.project_id, "--directory", target)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "layouts of version 99 are unknown to this version of Flagstaff" in refused.stderr
    async with database.write_history() as connection:
        await connection.execute(tables.layouts.update().values(version=version))
    assert "Wrote 1 evaluations" in export_all(store, environment, target)


@pytest.mark.parametrize("stopped", ["while writing", "before the manifest", "before the name"])
async def test_whatever_a_killed_run_left_is_finished_or_undone(target: Path, stopped: str) -> None:
    file = ExportedFile("2026-11-20-production-000001.jsonl.gz", "production", "2026-11-20", 1, 4)
    with open_directory(target, {}) as directory:
        with directory.new_file(0) as opened:
            opened.write(b"data")
        directory.keep({0: file}, uuid4(), Position(7))
    written, waiting = target / file.name, target / f".{file.name}.part"
    if stopped == "before the name":
        written.rename(waiting)
    else:
        (target / "manifest.json").unlink()
        written.rename(waiting if stopped == "before the manifest" else target / ".new.part")
        (target / ".manifest.json.part").write_bytes(b"{")
    with open_directory(target, {}) as directory:
        assert bool(directory.manifest.files) == written.exists() == (stopped == "before the name")
    assert not [*target.glob(".*")]
