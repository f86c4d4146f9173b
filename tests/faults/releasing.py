"""A release under faults: each step is applied once and in order, none is lost, and its guard acts once."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from time import monotonic
from uuid import UUID

from flagstaff.history.store.event_segments import unpack
from tests.faults.clients import LONGEST_SECONDS, RECONNECT_SECONDS, Connection
from tests.faults.fleet import Fleet
from tests.faults.histories import History
from tests.support.api import Json, created, environment_path, flag_path, project_path

STEPS = 8
METRIC = "released-errors"
DONE_SECONDS = 120.0  # waiting records are counted later, and a busy machine is slow
_FLAG = "released"
_FIRST_SHARE = 50
_REPORTED_AT_ONCE = 100
_PAUSE_SECONDS = 0.2


async def make_released_flag(fleet: Fleet) -> Json:
    """Create the flag that is released in each round, and the metric that its guard watches."""
    metric = {"key": METRIC, "name": "Errors", "kind": "binary", "better": "down"}
    created(await fleet.owner.post(f"{project_path(fleet.project)}/metrics", json=metric))
    body = {"name": _FLAG, "key": _FLAG, "enabled": False}
    answer = await fleet.owner.post(f"{environment_path(fleet.environment)}/flags", json=body)
    return {**created(answer), "project_id": fleet.project["id"]}


async def begin_release(fleet: Fleet, flag: Json, name: str) -> Json:
    """Release the flag to half of the users, and to a few more every second, with a guard that only notifies."""
    steps: list[Json] = [{"after_seconds": 0, "changes": {"enabled": True, "rollout_percentage": _FIRST_SHARE}}]
    steps += [
        {"after_seconds": 1, "changes": {"rollout_percentage": _FIRST_SHARE + place}} for place in range(1, STEPS)
    ]
    body = {"name": name, "steps": steps, "guards": [{"metric": METRIC, "action": "notify"}]}
    return created(await fleet.owner.post(f"{flag_path(flag)}/releases", json=body))


async def end_release(fleet: Fleet, flag: Json, release: Json) -> None:
    """Cancel the release, so that the next round can create one."""
    answer = await fleet.owner.post(f"{flag_path(flag)}/releases/{release['id']}/cancel")
    assert answer.status_code == 200, answer.text


@dataclass
class Reporter:
    """Reports an error of each user who has the flag, to the instances in turn, until one accepts it."""

    history: History
    sdk_key: str
    ports: Sequence[int]
    _seen: int = 0
    _waiting: list[str] = field(default_factory=list)

    async def run(self, is_over: Callable[[], bool]) -> None:
        """Report until `is_over()`, and then report the rest."""
        for port in cycle(self.ports):
            found = self.history.evaluations[self._seen :]
            self._seen += len(found)
            self._waiting += [each.user for each in found if _FLAG in each.on]
            users = self._waiting[:_REPORTED_AT_ONCE]
            if users and await self._report(port, users):
                del self._waiting[: len(users)]
            if is_over() and not self._waiting:
                return
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _report(self, port: int, users: Sequence[str]) -> bool:
        """Report errors of users; return whether they were accepted. Repeated ids count once."""
        events = [{"metric": METRIC, "user_id": user, "id": user} for user in users]
        body = json.dumps({"environment": "production", "events": events}).encode()
        headers = {"X-SDK-Key": self.sdk_key, "Content-Type": "application/json", "X-Forwarded-For": "198.19.0.1"}
        try:
            connection = await Connection.open(port)
        except OSError:
            await asyncio.sleep(RECONNECT_SECONDS)
            return False
        try:
            async with asyncio.timeout(LONGEST_SECONDS):
                answer = await connection.exchange("POST", "/sdk/v1/events", headers, body)
        except TimeoutError:
            raise AssertionError("an instance did not answer events") from None
        finally:
            connection.close()
        return answer.status == 202


async def find_misreleased(fleet: Fleet, release: Json) -> list[str]:
    """Return the errors of a release, after waiting for its steps and its guard."""
    began = monotonic()
    while True:
        problems = await _find_wrong(fleet, UUID(release["id"]))
        if not problems or monotonic() - began > DONE_SECONDS:
            return problems
        await asyncio.sleep(0.5)


async def _find_wrong(fleet: Fleet, release_id: UUID) -> list[str]:
    (row,) = await fleet.fetch("SELECT state, reason, applied, alarms FROM releases WHERE id = $1", release_id)
    trail = await fleet.fetch(
        "SELECT action, after FROM changes WHERE release ->> 'id' = $1 ORDER BY id", str(release_id)
    )
    problems = find_wrong_steps(
        [each["step"] for each in json.loads(row["applied"])],
        [each["action"] for each in trail],
        [json.loads(each["after"])["rollout_percentage"] for each in trail if each["action"] == "flag.updated"],
    )
    if row["state"] != "running":
        problems.append(f"the release is {row['state']}: {row['reason']}")
    alarms = [each["metric"] for each in json.loads(row["alarms"])]
    if alarms != [METRIC]:
        problems.append(f"the guard has acted {len(alarms)} times")
    stored = Counter(
        (each["environment"], unit)
        for each in await fleet.fetch("SELECT environment, content FROM history.event_segments")
        for metric, unit, *_ in unpack(each["content"])
        if metric == METRIC
    )
    repeated = [unit for (_, unit), times in stored.items() if times > 1]
    if repeated:
        problems.append(f"{len(repeated)} events were stored more than once, first that of {repeated[0]}")
    return problems


def find_wrong_steps(applied: Sequence[int], actions: Sequence[str], shares: Sequence[int]) -> list[str]:
    """Return the errors in the applied steps of a release, its audit trail and the changes of its flag, in words."""
    problems = []
    if list(applied) != list(range(STEPS)):
        problems.append(f"the steps {list(applied)} were applied, and not {STEPS}, each once and in order")
    counted = Counter(actions)
    for action, times in (("release.step_applied", STEPS), ("flag.updated", STEPS), ("release.warned", 1)):
        if counted[action] != times:
            problems.append(f"{action} is {counted[action]} times in the audit trail, and not {times}")
    if list(shares) != sorted(set(shares)):
        problems.append(f"the flag was changed to shares of {list(shares)}")
    return problems
