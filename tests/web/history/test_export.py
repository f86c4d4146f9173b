"""`flagstaff history export` beside the service: the files agree with the API, in both formats."""

import asyncio
import gzip
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from flagstaff.values.moments import format_moment
from tests.support.api import Caller, Json, environment_path, flag_path
from tests.support.command import run_flagstaff
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
    expected = [{"environment": "production", **each} for each in reversed(answer.json()["items"])]
    assert len(expected) == 13
    for file_format in ("jsonl", "parquet"):
        arguments = ("--project", project["id"], "--directory", str(tmp_path / file_format), "--format", file_format)
        done = await asyncio.to_thread(run_flagstaff, "history", "export", *arguments, environ=store.environ)
        assert done.returncode == 0, done.stderr
    (lines,) = (tmp_path / "jsonl").glob("*-production-000001.jsonl.gz")
    assert [json.loads(line) for line in gzip.decompress(lines.read_bytes()).splitlines()] == expected
    (rows,) = (tmp_path / "parquet").glob("*-production-000001.parquet")
    read = parquet.read_table(rows).to_pylist()
    assert [in_the_form_of_the_api(row, like) for row, like in zip(read, expected, strict=True)] == expected


def in_the_form_of_the_api(row: dict[str, Any], like: dict[str, Any]) -> dict[str, Any]:
    """Return a row of Parquet as an item of the API, which omits fields that an evaluation or a flag cannot have."""
    assert isinstance(row["evaluated_at"], datetime)
    flags = {flag.pop("key"): flag for flag in row.pop("flags")}
    for key, flag in flags.items():
        assert all(flag.pop(name) is None for name in flag.keys() - like["flags"][key].keys())
    attributes = row.pop("attributes")
    kept = {} if attributes is None else {"attributes": json.loads(attributes)}
    return {**row, **kept, "evaluated_at": format_moment(row["evaluated_at"]), "flags": flags}
