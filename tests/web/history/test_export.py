"""`flagstaff history export` beside the service: the files agree with the API, in both formats."""

import asyncio
import gzip
import json
from pathlib import Path

import pytest

from flagstaff.history.exported_columns import EVALUATIONS
from flagstaff.values.moments import format_moment
from tests.support.api import Caller, Json, environment_path, flag_path
from tests.support.command import run_flagstaff
from tests.support.sdk_keys import create_key
from tests.support.stores import Store
from tests.web.history.conftest import WhenRecorded

parquet = pytest.importorskip("pyarrow.parquet")


async def test_an_export_says_what_the_api_says_in_both_formats(
    ada: Caller,
    client: Caller,
    project: Json,
    environment: Json,
    store: Store,
    when_recorded: WhenRecorded,
    tmp_path: Path,
) -> None:
    plain = await ada.create_flag(environment, key="plain", rollout_percentage=40)
    await ada.create_rule(plain, rule_type="user_email", rule_value="ada@example.com")
    await ada.create_flag(environment, key="off", enabled=False)
    variants = [{"key": key, "weight": 500, "value": key} for key in ("blue", "red")]
    varied = await ada.create_flag(environment, key="varied", variants=variants)
    gold = {"attribute": "plan", "operator": "in", "values": ["gold"]}
    await ada.create_rule(varied, rule_type="attributes", rule_value=None, conditions=[gold], rollout_percentage=50)
    for number in range(12):
        context = {
            "user_id": None if number == 3 else f"user-{number}",
            "user_email": "ada@example.com" if number % 4 == 0 else None,
            "custom_attributes": {"plan": "gold" if number % 3 == 0 else "größe", "seats": number, "ignored": 1},
        }
        assert (await client.evaluate(project["sdk_key"], "production", context)).status_code == 200
    assert (await ada.post(f"{flag_path(varied)}/toggle")).status_code == 200
    assert (await client.evaluate(project["sdk_key"], "production", {"user_id": "last"})).status_code == 200
    await when_recorded()

    answer = await ada.get(f"{environment_path(environment)}/evaluations?limit=100")
    expected = [*reversed(answer.json()["items"])]
    assert len(expected) == 13
    for file_format in ("jsonl", "parquet"):
        await export(store, project, tmp_path / file_format, "--format", file_format)
    written = read_lines(tmp_path / "jsonl")
    assert [in_the_form_of_the_api(row, like) for row, like in zip(written, expected, strict=True)] == expected
    assert [set(row) for row in written] == [{*(column.name for column in EVALUATIONS), "flags"}] * 13
    (rows,) = (tmp_path / "parquet").glob("*-production-000001.parquet")
    read = [in_the_form_of_json(row) for row in parquet.read_table(rows).to_pylist()]
    assert read == written


async def test_each_row_names_its_flags_key_protocol_revision_and_instance(
    ada: Caller,
    client: Caller,
    project: Json,
    environment: Json,
    store: Store,
    when_recorded: WhenRecorded,
    tmp_path: Path,
) -> None:
    flag = await ada.create_flag(environment)
    named = await create_key(ada, project, name="Checkout"), await create_key(ada, project, name="Page", kind="browser")
    (server, browser), key_ids = (each["key"] for each in named), [each["id"] for each in named]
    context = {"context": {"user_id": "ada\u2028\u2029", "targetingKey": "ada"}}
    answers = [
        await client.evaluate(project["sdk_key"], "production", context["context"]),
        await client.evaluate(server, "production", {"user_id": "ada"}),
        await client.post("/ofrep/v1/evaluate/flags", json=context, headers={"authorization": f"Bearer {server}"}),
        await client.post(
            "/ofrep/v1/evaluate/flags/new-checkout", json=context, headers={"authorization": f"Bearer {server}"}
        ),
        await client.get("/unleash/api/frontend?userId=ada", headers={"authorization": browser}),
    ]
    assert [answer.status_code for answer in answers] == [200] * 5
    assert (await ada.delete(flag_path(flag))).status_code == 204
    again = await ada.create_flag(environment)
    assert (await client.evaluate(project["sdk_key"], "production", {"user_id": "ada"})).status_code == 200
    await when_recorded()
    await export(store, project, tmp_path / "export")
    rows = read_lines(tmp_path / "export")
    assert len(rows) == 6
    assert rows[0]["user_id"] == "ada\u2028\u2029"
    assert {(row["project_id"], row["environment_id"], row["environment"]) for row in rows} == {
        (project["id"], environment["id"], "production")
    }
    assert [(row["protocol"], row["key_name"], row["key_id"]) for row in rows] == [
        ("evaluate", None, None),
        ("evaluate", "Checkout", key_ids[0]),
        ("ofrep", "Checkout", key_ids[0]),
        ("ofrep", "Checkout", key_ids[0]),
        ("unleash_frontend", "Page", key_ids[1]),
        ("evaluate", None, None),
    ]
    assert [each["id"] for row in rows for each in row["flags"]] == [flag["id"]] * 5 + [again["id"]]
    revisions = [int(answer.headers["flagstaff-revision"]) for answer in answers[:4]]
    assert [row["revision"] for row in rows[:4]] == revisions
    assert rows[-1]["revision"] > revisions[-1]
    assert {row["instance"] for row in rows} == {rows[0]["instance"]} != {None}


async def export(store: Store, project: Json, target: Path, *options: str) -> None:
    arguments = ("--project", project["id"], "--directory", str(target), *options)
    environ = {**store.environ, "FLAGSTAFF_SECRET_KEY": "0123456789" * 4}
    done = await asyncio.to_thread(run_flagstaff, "history", "export", *arguments, environ=environ)
    assert done.returncode == 0, done.stderr


def read_lines(target: Path) -> list[Json]:
    (lines,) = target.glob("*-production-000001.jsonl.gz")
    text = gzip.decompress(lines.read_bytes()).decode()
    return [json.loads(line) for line in text.splitlines()]  # which splits at all separators of lines in Unicode


def in_the_form_of_json(row: Json) -> Json:
    """Return a row of Parquet as it is in JSON lines."""
    attributes = None if row["attributes"] is None else json.loads(row["attributes"])
    return {**row, "attributes": attributes, "evaluated_at": format_moment(row["evaluated_at"])}


def in_the_form_of_the_api(row: Json, like: Json) -> Json:
    """Return a row as an item of the API, which omits fields that an evaluation or a flag cannot have."""
    flags = {flag["key"]: {name: flag[name] for name in like["flags"][flag["key"]]} for flag in row["flags"]}
    return {**{name: row[name] for name in like}, "flags": flags}
