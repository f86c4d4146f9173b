"""Realistic data of a company: projects, flags and a day of evaluations, for screenshots and for trying things out."""

import asyncio
import random
import sys
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from pathlib import Path
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.evaluation.evaluator import evaluate
from flagstaff.flags.flags_store import create_flag
from flagstaff.settings import Settings
from tests.support.api import Caller, Json
from tests.support.builders import make_flag
from tests.support.history import Record, make_batch, write
from tests.support.sessions import log_in
from tests.support.stores import Store

EMAIL = "ada@acme.com"
PASSWORD = "correct horse battery staple"

_FLAGS: list[dict[str, Any]] = [
    {"name": "Dark invoices", "key": "dark-invoices", "description": "PDF invoices on a dark page"},
    {"name": "Search by image", "key": "search-by-image", "description": "Camera button in the search field"},
    {"name": "Gift cards", "key": "gift-cards", "description": "Buy and redeem gift cards", "enabled": True},
    {"name": "Same-day delivery", "key": "same-day-delivery", "description": "Berlin and Hamburg only", "enabled": True,
     "rollout_percentage": 40},
    {"name": "Loyalty points", "key": "loyalty-points", "description": "Points on every order", "enabled": True,
     "rollout_percentage": 75},
    {"name": "Address autocomplete", "key": "address-autocomplete", "description": "Suggestions while typing",
     "enabled": True},
    {"name": "Recommendations v2", "key": "recommendations-v2", "description": "The new model behind “You may like”",
     "enabled": True, "rollout_percentage": 10},
    {"name": "Maintenance banner", "key": "maintenance-banner", "description": "Shown on every page while on"},
    {"name": "Express payment", "key": "express-payment", "description": "Apple Pay and Google Pay at checkout",
     "enabled": True},
    {"name": "New checkout", "key": "new-checkout", "description": "One page instead of four steps", "enabled": True,
     "rollout_percentage": 25},
]  # fmt: skip
_RULES = {
    "new-checkout": [
        ("user_id", "user-1007", 30, True),
        ("email_domain", "acme.com", 20, True),
        ("user_email", "grace@partner.example", 10, False),
    ],
    "gift-cards": [("email_domain", "acme.com", 0, True)],
    "search-by-image": [("email_domain", "acme.com", 10, True), ("user_id", "user-1001", 0, True)],
    "recommendations-v2": [("user_email", "linus@acme.com", 0, True)],
}


async def found(settings: Settings, *, flags: int = 0) -> None:
    """Create the data in an empty data directory. `flags` is the number of additional flags in staging."""
    flagstaff = Flagstaff(settings)
    await flagstaff.start()
    try:
        await flagstaff.identity.accounts.register(email=EMAIL, password=PASSWORD)
        token = await log_in(flagstaff, email=EMAIL, password=PASSWORD)
        async with Caller(flagstaff.edge.asgi, token=token) as ada:
            await ada.create_project(name="Warehouse", description="Pick lists, stock and returns")
            await ada.create_project(name="Mobile app", description="iOS and Android")
            shop = await ada.create_project(name="Web shop", description="acme.com and its checkout")
            await ada.create_environment(shop, name="Canary", key="canary")
            production = await ada.get_environment(shop)
            for values in _FLAGS:
                flag = await ada.create_flag(production, **{"enabled": False, **values})
                for rule_type, value, priority, enabled in _RULES.get(flag["key"], []):
                    await ada.create_rule(
                        flag, rule_type=rule_type, rule_value=value, priority=priority, enabled=enabled
                    )
            for key in ("staging", "canary"):
                await _repeat(ada, await ada.get_environment(shop, key))
            await _add_flags(flagstaff, await ada.get_environment(shop, "staging"), flags)
            await _work(ada, flagstaff, production)
            await _live_through_a_day(flagstaff, shop)
    finally:
        await flagstaff.stop()


async def _repeat(ada: Caller, environment: Json) -> None:
    """Create flags in another environment: some as in production, and some that are on for more people."""
    for place, values in enumerate(_FLAGS):
        if place % 4 == 1 and environment["key"] == "canary":
            continue
        ahead = {"enabled": True, "rollout_percentage": 0} if environment["key"] == "staging" and place % 3 else {}
        flag = await ada.create_flag(environment, **{"enabled": False, **values, **ahead})
        for rule_type, value, priority, enabled in _RULES.get(flag["key"], []):
            await ada.create_rule(flag, rule_type=rule_type, rule_value=value, priority=priority, enabled=enabled)


async def _add_flags(flagstaff: Flagstaff, environment: Json, count: int) -> None:
    # Not through the API, which would compile the environment again for each flag.
    project_id, environment_id = UUID(environment["project_id"]), UUID(environment["id"])
    async with flagstaff.database.transaction() as transaction:
        for number in range(count):
            values: Json = {"name": f"Experiment {number}", "key": f"experiment-{number}", "enabled": number % 3 == 0}
            await create_flag(
                transaction.connection, make_flag(project_id=project_id, environment_id=environment_id, **values)
            )


async def _work(ada: Caller, flagstaff: Flagstaff, production: Json) -> None:
    base = f"/api/projects/{production['project_id']}/environments/{production['id']}/flags"
    checkout = (await ada.get(base)).json()[0]
    await ada.put(f"{base}/{checkout['id']}", json={"rollout_percentage": 10})
    await ada.post(f"{base}/{checkout['id']}/toggle")
    await ada.post(f"{base}/{checkout['id']}/toggle")
    await ada.put(f"{base}/{checkout['id']}", json={"rollout_percentage": 25})


async def _live_through_a_day(flagstaff: Flagstaff, shop: Json) -> None:
    access = await flagstaff.serving.sdk_keys.find(shop["sdk_key"])
    assert access is not None
    known = access.project.find_by_key("production")
    assert known is not None
    environment = await flagstaff.serving.snapshots.find_environment(known.project_id, known.environment_id)
    assert environment is not None
    chance = random.Random(7)
    now = datetime.now(UTC)
    records: list[Record] = []
    for minute in range(24 * 60):
        at = now - timedelta(minutes=24 * 60 - minute)
        visitors = 1 + 9 * max(0.0, 1 - abs(at.hour - 14) / 9)
        for _ in range(chance.randrange(round(visitors) + 1)):
            moment = at + timedelta(seconds=chance.random() * 60)
            number = 1000 + int(chance.expovariate(1 / 60))
            email = f"user{number}@example.com" if chance.random() < 0.4 else None
            if chance.random() < 0.06:
                email = chance.choice(["linus@acme.com", "grace@acme.com", "alan@acme.com"])
            user = None if chance.random() < 0.02 else f"user-{number}"
            recorded = evaluate(environment, user, email)[1]
            records.append((int(min(moment, now).timestamp() * 10**9), user, email, recorded))
    await write(
        flagstaff.database,
        make_batch(environment.environment_id, environment.layout, *sorted(records, key=itemgetter(0))),
    )


async def grow_old(store: Store, project: Json, days: int) -> None:
    """Move the creation and the changes of a project's flags this many days into the past."""
    at = datetime.now(UTC) - timedelta(days=days)
    changes, flags, environments = tables.changes, tables.flags, tables.environments
    project_id = UUID(project["id"])
    within = sa.select(environments.c.id).where(environments.c.project_id == project_id)
    database = Database(store.database_url, store.data_directory)
    try:
        async with database.transaction() as transaction:
            of_project = changes.c.project_id == project_id
            await transaction.connection.execute(changes.update().where(of_project).values(at=at))
            old = flags.update().where(flags.c.environment_id.in_(within)).values(created_at=at, updated_at=at)
            await transaction.connection.execute(old)
    finally:
        await database.close()


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    extra = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    asyncio.run(found(Settings.load({"FLAGSTAFF_DATA_DIR": str(folder)}), flags=extra))
