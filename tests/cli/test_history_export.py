"""`flagstaff history export`: the files contain each evaluation once, even after interruptions."""

# ruff: noqa: ASYNC230, ASYNC240 - nothing else runs on the loop of these tests

import gzip
import json
import os
import random
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
import pytest
import sqlalchemy as sa

from flagstaff.cli.history import export as exporting
from flagstaff.cli.history.directory import open_directory
from flagstaff.cli.history.manifest import ExportedFile
from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.history.store.batches import find_environment_number
from flagstaff.history.store.deletions import delete_segments, hide_evaluations
from flagstaff.history.store.distinct_users.user_rollups import roll_up_users
from flagstaff.history.store.following import SEGMENTS_AT_ONCE, Position
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


def lines(target: Path) -> list[dict[str, Any]]:
    found = []
    for path in sorted(target.glob("*.jsonl.gz"), key=lambda path: path.name.rsplit("-", 1)[1]):
        of_file = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
        assert {each["evaluated_at"][:10] for each in of_file} == {path.name[:10]}
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
        (["--environment", "prod"], "The project has no environment 'prod'. Its environments are production."),
        (["--enabled"], "--enabled requires --flag, which names the flag"),
        (["--variant", "blue"], "--variant requires --flag, which names the flag"),
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
        directory.keep(None, uuid4(), Position(7))
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
        directory.keep(None, uuid4(), Position(7))
    (target.parent / stranger.name).rename(stranger)
    with open_directory(target, {}):
        pass
    assert stranger.read_text() == "keep me"


def test_symbolic_links_of_others_are_replaced_and_not_followed(target: Path) -> None:
    victim = target.parent / "victim"
    victim.write_text("keep me")
    file = ExportedFile("2026-11-20-production-000001.jsonl.gz", "production", "2026-11-20", 1, 4)
    with open_directory(target, {}) as directory:
        for name in (".new.part", ".manifest.json.part"):
            (target / name).symlink_to(victim)
        with directory.new_file() as opened:
            opened.write(b"data")
        directory.keep(file, uuid4(), Position(7))
    assert victim.read_text() == "keep me"
    assert (target / file.name).read_bytes() == b"data"
    assert not [path for path in target.iterdir() if path.is_symlink()]
    assert {path.stat().st_mode & 0o777 for path in target.iterdir()} == {0o600}


def test_without_pyarrow_the_refusal_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "flagstaff.cli.history.parquet", None)
    with pytest.raises(Error, match=r"pip install 'flagstaff\[parquet\]'"):
        exporting._find_writer(exporting.FileFormat.PARQUET)


def test_a_full_disk_is_said_and_leaves_what_was_complete(target: Path) -> None:
    environment_id = uuid4()
    file = ExportedFile("2026-11-20-production-000001.jsonl.gz", "production", "2026-11-20", 1, 4)
    with open_directory(target, {}) as directory:
        with directory.new_file() as opened:
            opened.write(b"data")
        directory.keep(file, environment_id, Position(7, {7: 1}))
    before = (target / "manifest.json").read_bytes()
    with (
        pytest.raises(Error, match=r"no space left for .* run the same command again: it continues"),
        open_directory(target, {}) as directory,
        directory.new_file() as opened,
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
        with directory.new_file() as opened:
            opened.write(b"data")
        directory.keep(file, uuid4(), Position(7))
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
