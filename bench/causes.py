"""The share of changed results for which a cause is found, and its cost: `python -m bench.causes [seed]`.

The history is generated from a seed: 20,000 evaluations of 100 users, with 300 changes of 40 flags, their rules and
segments in between, and changes of some users' attributes. It is measured with all attributes kept, and with those that
rules use, on SQLite.

Evaluations and changes follow one another, so the true cause is known. A reported cause is wrong if its change was not
made between the two evaluations, or if the attribute was the same in both.
"""

import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, redirect_stdout
from pathlib import Path
from statistics import quantiles
from typing import Any

from bench.page_data import EMAIL, PASSWORD
from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.settings import Settings
from tests.support.api import Caller, Json, environment_path, flag_path
from tests.support.sessions import log_in

EVALUATIONS, CHANGES, USERS, FLAGS, SEGMENTS = 20_000, 300, 100, 40, 6
PLANS, COUNTRIES = ("free", "pro", "gold"), ("NO", "PT", "JP")
MOVES = 0.02  # of the evaluations have a user whose plan or country has changed
A_PAGE = 25  # results on a page of the dashboard


class History:
    """A project whose flags are changed and evaluated."""

    def __init__(self, caller: Caller, dice: random.Random) -> None:
        self.caller, self.dice = caller, dice
        self.users = {f"u-{n}": self._draw_attributes() for n in range(USERS)}
        self.flags: list[Json] = []
        self.rules: list[Json] = []
        self.segments: list[Json] = []

    async def make(self) -> None:
        """Create the flags: with rollouts, variants, rules for segments and attributes, and some with prerequisites."""
        self.project = await self.caller.create_project()
        self.environment = await self.caller.get_environment(self.project)
        for n in range(SEGMENTS):
            conditions = [self._draw_users()]
            self.segments.append(
                await self.caller.create_segment(self.project, key=f"s-{n}", name=f"Segment {n}", conditions=conditions)
            )
        for n in range(FLAGS):
            values: Json = {
                "key": f"flag-{n}",
                "name": f"Flag {n}",
                "fallthrough": self.dice.choice(("rollout", "off")),
            }
            if n % 4 == 1:
                values["variants"] = self._draw_variants()
            if n % 4 == 2:
                values["prerequisites"] = [{"flag_key": f"flag-{self.dice.randrange(n)}", "enabled": True}]
            flag = await self.caller.create_flag(self.environment, **values)
            self.flags.append(flag)
            for _ in range(self.dice.randrange(3)):
                await self._add_rule(flag)

    async def change(self) -> None:
        """Make a random change."""
        kind = self.dice.choice(("toggle", "segment", "segment", "rule", "conditions", "variants", "name"))
        flag = self.dice.choice(self.flags)
        match kind:
            case "toggle":
                await self.caller.post(f"{flag_path(flag)}/toggle")
            case "segment":
                segment = self.dice.choice(self.segments)
                path = f"/api/projects/{self.project['id']}/segments/{segment['id']}"
                await self.caller.put(path, json={"conditions": [self._draw_users()]})
            case "rule" if len(self.rules) > FLAGS or (self.rules and self.dice.random() < 0.4):
                rule = self.rules.pop(self.dice.randrange(len(self.rules)))
                await self.caller.delete(rule["path"])
            case "rule":
                await self._add_rule(flag)
            case "conditions" if self.rules:
                rule = self.dice.choice(self.rules)
                await self.caller.put(rule["path"], json={"enabled": self.dice.random() < 0.7})
            case "variants":
                varied = self.dice.choice(self.flags[1::4])
                await self.caller.put(flag_path(varied), json={"variants": self._draw_variants()})
            case _:
                await self.caller.put(flag_path(flag), json={"name": f"Name {self.dice.random()}"})

    async def evaluate(self) -> None:
        """Evaluate for a random user, whose attributes may have changed."""
        name = self.dice.choice(list(self.users))
        if self.dice.random() < MOVES:
            self.users[name] = self._draw_attributes()
        context = {"user_id": name, "custom_attributes": self.users[name]}
        answer = await self.caller.evaluate(self.project["sdk_key"], context=context)
        assert answer.status_code == 200, answer.text

    async def _add_rule(self, flag: Json) -> None:
        if self.dice.random() < 0.5:
            values: Json = {"rule_type": "segment", "rule_value": self.dice.choice(self.segments)["key"]}
        else:
            name, among = self.dice.choice((("plan", PLANS), ("country", COUNTRIES)))
            condition = {"attribute": name, "operator": "in", "values": [self.dice.choice(among)], "negate": False}
            values = {"rule_type": "attributes", "rule_value": None, "conditions": [condition]}
        rule = await self.caller.create_rule(flag, **values)
        self.rules.append({"path": f"{flag_path(flag)}/rules/{rule['id']}"})

    def _draw_attributes(self) -> Json:
        return {"plan": self.dice.choice(PLANS), "country": self.dice.choice(COUNTRIES)}

    def _draw_users(self) -> Json:
        names = self.dice.sample(sorted(self.users), 30)
        return {"attribute": "user_id", "operator": "in", "values": names, "negate": False}

    def _draw_variants(self) -> list[Json]:
        weight = self.dice.randrange(1, 1000)
        return [{"key": "a", "weight": weight, "value": 1}, {"key": "b", "weight": 1000 - weight, "value": 2}]


async def measure(kept: str, seed: int) -> None:
    """Fill a history, request all causes, and print them with the time for a page."""
    async with served(kept) as (flagstaff, caller):
        history = History(caller, random.Random(seed))
        await history.make()
        for n in range(EVALUATIONS):
            if n % (EVALUATIONS // CHANGES) == 0 and n // (EVALUATIONS // CHANGES) < CHANGES:
                await history.change()
            await history.evaluate()
        await _wait_until_stored(flagstaff)
        kinds: Counter[str] = Counter()
        uncertain, wrong, times = 0, 0, []
        base = environment_path(history.environment)
        for user in history.users:
            async for results in _pages(caller, base, user):
                began = time.perf_counter()
                body = [
                    {
                        "flag_key": each["flag_key"],
                        "before_evaluation_id": each["before"]["evaluation_id"],
                        "after_evaluation_id": each["after"]["evaluation_id"],
                    }
                    for each in results
                ]
                answer = await caller.post(f"{base}/evaluations/changes/causes", json={"results": body})
                times.append((time.perf_counter() - began) * 1000)
                assert answer.status_code == 200, answer.text
                found = answer.json()
                changes = {each["id"]: each for each in found["changes"]}
                for result, cause in zip(results, found["items"], strict=True):
                    kinds[cause["kind"]] += 1
                    uncertain += bool(cause["unknown_attributes"])
                    wrong += _is_wrong(result, cause, changes)
        _report(kept, kinds, uncertain, wrong, times)


async def _wait_until_stored(flagstaff: Flagstaff) -> None:
    for _ in range(1000):
        if not flagstaff.history.recorder.waiting:
            return
        await asyncio.sleep(0.01)
    raise TimeoutError("the history is not written")


def _is_wrong(result: Json, cause: Json, changes: Json) -> bool:
    between = (result["before"]["evaluated_at"], result["after"]["evaluated_at"])
    if any(not between[0] <= changes[each]["at"] <= between[1] for each in cause["change_ids"]):
        return True
    return any(each["before"] == each["after"] for each in cause["attributes"])


def _report(kept: str, kinds: Counter[str], uncertain: int, wrong: int, times: Iterable[float]) -> None:
    total, named = kinds.total(), sum(kinds[each] for each in ("change", "user", "change_and_user"))
    print(f"attributes kept: {kept}")
    print(f"  {total} changed results: {named / total:.2%} with a cause, {uncertain} not certain, {wrong} wrong")
    print(f"  {dict(kinds)}")
    cuts = quantiles(times, n=100)
    print(f"  a page of up to {A_PAGE}: p50 {cuts[49]:.0f} ms, p99 {cuts[98]:.0f} ms")


async def _pages(caller: Caller, base: str, user: str) -> AsyncIterator[list[Json]]:
    query: dict[str, Any] = {"user_id": user, "limit": A_PAGE}
    while True:
        page = (await caller.get(f"{base}/evaluations/changes", params=query)).json()
        for start in range(0, len(page["items"]), A_PAGE):
            yield page["items"][start : start + A_PAGE]
        if page["next_cursor"] is None:
            return
        query["cursor"] = page["next_cursor"]


@asynccontextmanager
async def served(kept: str) -> AsyncIterator[tuple[Flagstaff, Caller]]:
    """Run a new instance without limits; yield an account that calls it."""
    off = {f"FLAGSTAFF_{name}_RATE_LIMIT": "off" for name in ("EVALUATE", "API")}
    with tempfile.TemporaryDirectory() as folder:
        data = {"FLAGSTAFF_DATA_DIR": str(Path(folder) / "data"), "FLAGSTAFF_HISTORY_ATTRIBUTES": kept}
        with redirect_stdout(sys.stderr):
            flagstaff = Flagstaff(Settings.load({**off, **data}))
            await flagstaff.start()
        try:
            await flagstaff.identity.accounts.register(email=EMAIL, password=PASSWORD)
            token = await log_in(flagstaff, email=EMAIL, password=PASSWORD)
            async with Caller(flagstaff.edge.asgi, token=token) as caller:
                yield flagstaff, caller
        finally:
            await flagstaff.stop()


async def main() -> None:
    """Measure with each setting for kept attributes."""
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else random.randrange(10**6)
    print(f"seed {seed}")
    for kept in ("all", "used"):
        await measure(kept, seed)


if __name__ == "__main__":
    asyncio.run(main())
