"""Checks how much of their budget the conditions of environments use, for `flagstaff doctor`. They change nothing."""

from flagstaff.cli.doctor.findings import Finding, ok, warn
from flagstaff.database.database import Database
from flagstaff.flags.condition_work_budgets import read_works
from flagstaff.settings import Settings
from flagstaff.values.text import name_some

_NAMED = 5


async def check_condition_work(settings: Settings) -> Finding:
    """The environments whose conditions are above the budget; the database must be one that can be served from."""
    quota = settings.max_condition_work
    database = Database(settings.database_url, settings.data_dir)
    try:
        works = await read_works(database)
    finally:
        await database.close()
    above = sorted((each for each in works if each.micros > quota.maximum), key=lambda each: -each.micros)
    if not above:
        highest = max((each.micros for each in works), default=0)
        return ok("conditions", f"at most {highest:,.0f} microseconds in an environment; {quota.maximum:,} are allowed")
    named = name_some(above, _NAMED, lambda each: f"{each.project_id}/{each.environment_key} ({each.micros:,.0f})")
    return warn(
        "conditions",
        f"{len(above)} environments are above their budget of {quota.maximum:,} microseconds: {named}",
        "They are evaluated, but may slow other evaluations, and their conditions cannot grow. Ask their editors to "
        f"reduce the conditions (see GET …/condition-work), or raise {quota.setting}.",
    )
