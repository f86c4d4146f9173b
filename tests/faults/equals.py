"""Clients that send the same write to two instances at the same time, and again when both have answered."""

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.faults.clients import BY_RULES, DOMAIN, LONGEST_SECONDS, RECONNECT_SECONDS, Answer, Connection, outcome_of
from tests.faults.histories import History, Outcome, Toggle
from tests.support.api import Json, created, environment_path, flag_path, project_path
from tests.support.remote import RemoteCaller

_BY_RULE, _BY_SEGMENT = BY_RULES
_ELSEWHERE = "elsewhere.test"


@dataclass(frozen=True, slots=True)
class Write:
    """A request that turns a flag on or off, or that changes nothing if `flag` is None.

    `make` returns the method, the path, the body and further headers for a turn and the wanted state.
    """

    name: str
    flag: str | None
    make: Callable[[int, bool], tuple[str, str, Json, dict[str, str]]]
    is_known: bool = True  # whether the wanted state is known before the answer


async def make_writes(owner: RemoteCaller, project: Json, environment: Json) -> tuple[list[Write], list[Toggle]]:
    """Return every kind of write that may find its value already there; also create the flags, which are on."""
    base, known = environment_path(environment), []

    async def create(key: str, **values: Any) -> Json:
        started = time.monotonic_ns()
        answer = await owner.post(f"{base}/flags", json={"name": key, "key": key, "enabled": True, **values})
        flag = {**created(answer), "project_id": project["id"]}
        known.append(_created(key, started, answer.headers["flagstaff-revision"]))
        return flag

    put, bulk, keyed = [await create(key) for key in ("equal-put", "equal-bulk", "equal-keyed")]
    condition = {"attribute": "user_email", "operator": "ends_with", "values": [f"@{DOMAIN}"]}
    segment = await owner.create_segment(project, key="equal", conditions=[condition])
    rules = []
    for key, rule_type, value in ((_BY_RULE, "email_domain", DOMAIN), (_BY_SEGMENT, "segment", "equal")):
        flag = await create(key, rollout_percentage=1)
        known.pop()  # the flag is on when it has its rule
        started = time.monotonic_ns()
        answer = await owner.post(f"{flag_path(flag)}/rules", json={"rule_type": rule_type, "rule_value": value})
        rules.append(f"{flag_path(flag)}/rules/{created(answer)['id']}")
        known.append(_created(key, started, answer.headers["flagstaff-revision"]))
    segment_path = f"{project_path(project)}/segments/{segment['id']}"

    def domain(enabled: bool) -> str:
        return DOMAIN if enabled else _ELSEWHERE

    def switch(enabled: bool) -> str:
        return "enable" if enabled else "disable"

    def conditions(enabled: bool) -> Json:
        return {"conditions": [{**condition, "values": [f"@{domain(enabled)}"]}]}

    return [
        Write("put", put["key"], lambda _, on: ("PUT", flag_path(put), {"enabled": on}, {})),
        Write(
            "bulk",
            bulk["key"],
            lambda _, on: ("POST", f"{base}/bulk-actions", {"flags": [bulk["id"]], "action": switch(on)}, {}),
        ),
        Write("rule", _BY_RULE, lambda _, on: ("PUT", rules[0], {"rule_value": domain(on)}, {})),
        Write("segment", _BY_SEGMENT, lambda _, on: ("PUT", segment_path, conditions(on), {})),
        Write(
            "keyed",
            keyed["key"],
            lambda turn, _: ("POST", f"{flag_path(keyed)}/toggle", {}, {"Idempotency-Key": f"{turn}"}),
            is_known=False,
        ),
        Write("flag's name", None, lambda *_: ("PUT", flag_path(put), {"name": put["name"]}, {})),
        Write("project's name", None, lambda *_: ("PUT", project_path(project), {"name": project["name"]}, {})),
        Write("environment's name", None, lambda *_: ("PUT", base, {"name": environment["name"]}, {})),
        Write("segment's name", None, lambda *_: ("PUT", segment_path, {"name": segment["name"]}, {})),
    ], known


def _created(flag: str, started: int, revision: str) -> Toggle:
    return Toggle(flag, 0, started, time.monotonic_ns(), 201, Outcome.MADE, enabled=True, revision=int(revision))


class Equals:
    """Sends some writes in turn, each to two instances at once and then once more."""

    def __init__(
        self, history: History, writes: Sequence[Write], token: str, ports: dict[int, int], *, pause_seconds: float
    ) -> None:
        """`ports` are the ports of two instances, by number."""
        self._history = history
        self._writes = writes
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._ports = ports
        self._pause_seconds = pause_seconds

    async def run(self, is_over: Callable[[], bool]) -> None:
        """Write until `is_over()`."""
        enabled = False
        while not is_over():
            for write in self._writes:
                turn = time.monotonic_ns()
                for _ in range(2):
                    await asyncio.gather(*(self._send(each, write, turn, enabled=enabled) for each in self._ports))
                await asyncio.sleep(self._pause_seconds)
            enabled = not enabled

    async def _send(self, instance: int, write: Write, turn: int, *, enabled: bool) -> None:
        method, path, body, headers = write.make(turn, enabled)
        try:
            connection = await Connection.open(self._ports[instance])
        except OSError:
            await asyncio.sleep(RECONNECT_SECONDS)
            return
        started = time.monotonic_ns()
        try:
            async with asyncio.timeout(LONGEST_SECONDS):
                content = json.dumps(body).encode() if body else b""
                answer = await connection.exchange(method, path, {**self._headers, **headers}, content)
        except TimeoutError:
            raise AssertionError(f"instance {instance} did not answer {write.name}") from None
        finally:
            connection.close()
        self._record(instance, write, turn, started, answer, enabled=enabled)

    def _record(self, instance: int, write: Write, turn: int, started: int, answer: Answer, *, enabled: bool) -> None:
        outcome = outcome_of(answer)
        asked = enabled if write.is_known else None
        if outcome is Outcome.MADE and not write.is_known:
            asked = json.loads(answer.body)["enabled"]
        toggle = Toggle(
            write.flag or write.name,
            instance,
            started,
            time.monotonic_ns(),
            answer.status,
            outcome,
            asked,
            answer.number("flagstaff-revision"),
            answer.headers.get("flagstaff-live-on"),
            turn,
        )
        if outcome is Outcome.MADE and toggle.revision is None:
            self._history.problems.append(f"the answer to {write.name} at instance {instance} names no revision")
        (self._history.toggles if write.flag else self._history.others).append(toggle)
