"""What `bench.management` asks: every operation of the management API that only reads, and the large writes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

from bench.management_data import Filled
from flagstaff.assembly.api import create_api
from tests.support.description import STREAMS, described
from tests.support.operations import list_operations

Json = dict[str, Any]

_MOST = 100  # repetitions of a request

# They need a mail, a login or a provider of identities, or are about the whole server and its parts.
_ELSEWHERE = ("/auth/", "/health", "/ready", "/metrics", "/sdk/")


@dataclass(frozen=True)
class Request:
    """A request with the name of its row. `bodies` take turns, so that repetitions change something."""

    name: str
    method: str
    path: str
    body: Any = None
    bodies: Sequence[Any] = ()
    accepted: tuple[int, ...] = (200, 201, 204)
    repeat: int | None = None


def list_reads(filled: Filled) -> Iterator[Request]:
    """Every operation that changes nothing, some with several queries or bodies.

    Raises:
        LookupError: for an operation with a body or a needed query that is missing here.
    """
    reading = {(method, path) for method, path, operation in list_operations(create_api().routes) if operation.reads}
    bodies, queries = _bodies(filled), _queries(filled)
    for path, methods in described()["paths"].items():
        for method, operation in methods.items():
            name = operation["operationId"]
            is_left_out = name in STREAMS or path.startswith(_ELSEWHERE)
            if is_left_out or (method.upper(), path) not in reading:
                continue
            if "requestBody" in operation and name not in bodies:
                raise LookupError(f"add a body for {name}")
            whole: Mapping[str, Mapping[str, str]] = {"": {}}
            given = queries.get(name) or {**whole, **_longest_part(operation)}
            for label, body in bodies.get(name, {"": None}).items():
                for part, query in given.items():
                    where = _fill_path(path, filled) + (f"?{urlencode(query)}" if query else "")
                    title = " ".join(filter(None, (name, label, part)))
                    yield Request(title, method.upper(), where, body, accepted=(200, 400, 404))


def _longest_part(operation: Json) -> dict[str, dict[str, str]]:
    """A query for as many items as an operation returns at once, if it has parts."""
    for each in operation.get("parameters", ()):
        if each["name"] == "limit":
            most = next(kind["maximum"] for kind in each["schema"].get("anyOf", [each["schema"]]) if "maximum" in kind)
            return {f"{most:,} at once": {"limit": str(most)}}
    return {}


def _fill_path(path: str, filled: Filled) -> str:
    return path.format_map(_Ids(filled.ids))


class _Ids(dict[str, str]):
    """Ids by the names of parameters; what was not made has an id that does not exist."""

    def __missing__(self, _: str) -> str:
        return str(uuid4())


def _queries(filled: Filled) -> dict[str, Mapping[str, Mapping[str, str]]]:
    now = datetime.now(UTC)
    days = {"since": f"{now - timedelta(days=6):%Y-%m-%dT%H:00:00Z}", "until": f"{now:%Y-%m-%dT%H:00:00Z}"}
    both = {"from": filled.ids["env_id"], "to": filled.other_environment_id}
    user = {"user_id": "user-100"}
    hundred = {"limit": "100"}
    return {
        "list_flags": {"": {}, "1,000 at once": {"limit": "1000"}, "archived": {"archived": "true"}},
        "list_project_flags": {"": {}, "that differ": {"differs": "true"}, "search": {"q": "flag-4"}},
        "compare_environments": {"": both, "100 at once": {**both, **hundred}},
        "list_project_changes": {"": hundred, "of an actor": {**hundred, "actor": filled.ids["account_id"]}},
        "list_changes": {"": hundred, "toggles": {**hundred, "action": "flag.toggled"}},
        "list_evaluations": {
            "": hundred,
            "without answers": {**hundred, "answers": "false"},
            "of a user": {**hundred, **user},
            "of a flag": {**hundred, "flag_key": "flag-0001", "enabled": "true"},
            "of nobody": {**hundred, "user_id": "nobody"},
        },
        "list_flag_evaluations": {"": hundred, "on": {**hundred, "enabled": "true"}},
        "list_answer_changes": {"": {**hundred, **user}},
        "summarise_evaluations": {
            "by day": {**days, "interval": "1d"},
            "half a day by hour": {
                **days,
                "since": f"{now - timedelta(hours=12):%Y-%m-%dT%H:00:00Z}",
                "interval": "1h",
            },
            "by hour": {**days, "interval": "1h"},  # which is refused: it has too many results
            "users": {**days, "interval": "1d", "users": "true", "flag_key": "flag-0001"},
        },
        "summarise_flag_evaluations": {"": days},
        "summarise_changes": {"": {**days, "interval": "1h"}},
        "chart_request_metric": {"": {"name": "orders"}},
    }


def _bodies(filled: Filled) -> dict[str, Mapping[str, Any]]:
    """Bodies by the names of operations and of rows."""
    user = {"user_id": "user-100", "custom_attributes": {"plan": "plan-3-1"}}
    wide = {"custom_attributes": {f"x{number}": "y" * 90 for number in range(900)}}
    rules = [{"rule_type": "user_id", "rule_value": f"user-{number}"} for number in range(1_000)]
    draft = {**filled.body_of_flag, "rules": rules}
    values = [f"user-{number:030}" for number in range(10_000)]
    condition = {"attribute": "user_id", "operator": "in", "values": values}
    wide_rule = {"rule_type": "attributes", "rule_value": None, "conditions": [condition]}
    users = [{"user_id": f"user-{number}"} for number in range(200)]
    needy = filled.needy_environment_id
    return {
        "explain": {
            "all flags": {"context": user},
            "1,000 flags": {"context": user, "flag_keys": [f"flag-{number:04}" for number in range(1_000)]},
            "a draft with 1,000 rules": {"context": user, "flag": draft},
            "a draft with 10,000 values": {"context": user, "flag": {**draft, "rules": [wide_rule]}},
            "900 attributes": {"context": wide},
        },
        "list_answers": {"": {"context": user, "limit": 50}, "search": {"context": user, "search": "49"}},
        "answer_users": {
            "200 users, 100 flags": {"environment_ids": [filled.ids["env_id"]], "users": users},
            "1 user, 200 flags": {"environment_ids": [filled.ids["env_id"]], "users": users[:1]},
            "200 users, needy flags": {"environment_ids": [needy], "users": users},
            "1 user, needy flags": {
                "environment_ids": [needy],
                "users": users[:1],
                "flag_keys": [f"flag-{number:04}" for number in range(2_800, 3_000)],
            },
        },
        "find_causes": {"": {"results": filled.results}},
        "preview_impact": {"1,000 rules": {"flag": draft}, "10,000 values": {"flag": {**draft, "rules": [wide_rule]}}},
        "preview_webhook": {"": {"events": ["*"]}},
        "preview_instance_webhook": {"": {"events": ["*"]}},
    }


def list_others(filled: Filled) -> Iterator[Request]:
    """Reads of the environment whose flags need many others, writes, and large bodies that are refused."""
    project = f"/api/projects/{filled.ids['project_id']}"
    inside, needy = (f"{project}/environments/{each}" for each in (filled.ids["env_id"], filled.needy_environment_id))
    user = {"user_id": "user-100"}
    yield Request("list of needy flags", "GET", f"{needy}/flags")
    yield Request("explain all needy flags", "POST", f"{needy}/explain", {"context": user})
    yield Request("explain 100 needy flags", "POST", f"{needy}/explain", {"context": user, "flag_keys": _last(100)})
    yield Request("answers of needy flags", "POST", f"{needy}/answers", {"context": user, "limit": 100})
    yield Request("condition work of needy flags", "GET", f"{needy}/condition-work")
    yield Request("clean-up of needy flags", "GET", f"{needy}/cleanup")
    yield Request("export of needy flags", "GET", f"{needy}/export")
    yield Request("rules of needy flags", "GET", f"{needy}/rules")
    yield from _writes(filled, project, inside, needy)
    yield from _large_bodies(project, inside)


def _last(count: int) -> list[str]:
    return [f"flag-{number:04}" for number in range(3_000 - count, 3_000)]


def _writes(filled: Filled, project: str, inside: str, needy: str) -> Iterator[Request]:
    flag = f"{inside}/flags/{filled.ids['flag_id']}"
    keys = [f"flag-{number:04}" for number in range(100)]
    copy = {"from": filled.ids["env_id"], "to": filled.other_environment_id, "flag_keys": keys}
    ids = filled.flag_ids[:200]
    restore = {"changes": filled.change_ids[:100], "dry_run": True}
    yield Request("toggle", "POST", f"{flag}/toggle")
    yield Request("update of a flag", "PUT", flag, bodies=[{"description": text} for text in ("One.", "Two.")])
    names = [
        {"name": f"Needy {number}", "key": f"needy-{uuid4().hex}", "prerequisites": _needs()} for number in range(_MOST)
    ]
    yield Request("new needy flag", "POST", f"{needy}/flags", bodies=names)
    yield Request("dry run of a copy of 100 flags", "POST", f"{project}/copy", {**copy, "dry_run": True})
    yield Request("copy of 100 flags, there and back", "POST", f"{project}/copy", bodies=[copy, _back(copy)])
    bulk = [{"flags": ids, "action": action} for action in ("enable", "disable")]
    yield Request("bulk action on 200 flags", "POST", f"{inside}/bulk-actions", bodies=bulk)
    yield Request("dry run of a restore of 100 changes", "POST", f"{project}/changes/restore", restore)
    clones = [
        {"name": f"Clone {number}", "key": f"clone-{uuid4().hex}", "copy_from": filled.needy_environment_id}
        for number in range(_MOST)
    ]
    yield Request("clone of needy flags", "POST", f"{project}/environments", bodies=clones, repeat=3)


def _needs() -> list[Json]:
    return [{"flag_key": key, "enabled": True} for key in _last(20)]


def _back(copy: Json) -> Json:
    return {**copy, "from": copy["to"], "to": copy["from"]}


def _large_bodies(project: str, inside: str) -> Iterator[Request]:
    values = [f"user-{number:030}" for number in range(10_000)]
    condition = {"attribute": "user_id", "operator": "in", "values": values}
    accepted = (200, 201, 400, 409, 413)
    segments = [{"key": f"wide-{uuid4().hex}", "name": "Wide", "conditions": [condition]} for number in range(_MOST)]
    yield Request("new segment of 10,000 values", "POST", f"{project}/segments", bodies=segments, accepted=accepted)
    unknown = {f"x{number}": 0 for number in range(20_000)}
    yield Request("segment with 20,000 unknown fields", "POST", f"{project}/segments", unknown, accepted=accepted)
    lists = {"name": "x", "key": "x", "conditions": [[0] * 50_000]}
    yield Request("segment with a list of 50,000 numbers", "POST", f"{project}/segments", lists, accepted=accepted)
    text = {"name": "x" * 120_000, "key": "x"}
    yield Request("flag with a name of 120 KB", "POST", f"{inside}/flags", text, accepted=accepted)
    nested = {"context": {"custom_attributes": {f"k{n}": {"a": [n]} for n in range(9_000)}}}
    yield Request("explain with 9,000 nested attributes", "POST", f"{inside}/explain", nested, accepted=accepted)
    flags = {"flags": [str(uuid4()) for _ in range(3_000)], "action": "enable"}
    yield Request("bulk action on 3,000 flags", "POST", f"{inside}/bulk-actions", flags, accepted=accepted)
