"""The checks of `flagstaff doctor` for this machine's clock."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from flagstaff.cli.doctor.database_state import Examination
from flagstaff.cli.doctor.findings import Finding, fail, ok, warn
from flagstaff.history.passed_time import TOLERANCE

_SLIGHT_SKEW_SECONDS = 1.0
_GRAVE_SKEW_SECONDS = 30.0


def check_clocks(found: Examination) -> Iterator[Finding]:
    """Compare the clock with the database's, and with the time that a server has seen pass."""
    yield _clock(found)
    if found.time_seen is not None:
        yield _passed_time(found.time_seen)


def _clock(found: Examination) -> Finding:
    lead = found.clock_lead
    said = f"the database's clock is {abs(lead):.1f} seconds {'ahead of' if lead > 0 else 'behind'} this machine's"
    advice = "Synchronise both clocks (NTP)."
    if abs(lead) >= _GRAVE_SKEW_SECONDS:
        return fail("clock", said, advice)
    if abs(lead) >= _SLIGHT_SKEW_SECONDS:
        return warn("clock", said, advice)
    return ok("clock", "agrees with the database's")


def _passed_time(seen: datetime) -> Finding:
    ahead = datetime.now(UTC) - seen
    if abs(ahead) <= TOLERANCE:
        return ok("passed time", "agrees with this machine's clock")
    side = "after" if ahead > timedelta(0) else "before"
    last = f"{seen:%Y-%m-%d %H:%M} UTC, the latest time that a server has recorded"
    said = f"this machine's clock is {_spell(abs(ahead))} {side} {last}"
    advice = (
        "Check the clock (NTP). Until it has stayed for an hour, or a day if it is further away than that, nothing is "
        "deleted by age. If it is right, you can run: flagstaff trust-clock"
    )
    return warn("passed time", said, advice)


def _spell(duration: timedelta) -> str:
    days, hours = duration.days, duration // timedelta(hours=1)
    return f"{days} days" if days >= 2 else f"{hours} hours"
