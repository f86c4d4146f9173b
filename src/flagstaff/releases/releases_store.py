"""Releases in the database."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables
from flagstaff.database.clock import DatabaseNow
from flagstaff.database.resources import Resource
from flagstaff.database.windows import Listing
from flagstaff.metrics.request_metrics import Measure
from flagstaff.releases.authority_store import lacks_authority
from flagstaff.releases.plans import Action, Counts, Guard, Step, Threshold, WhenLate
from flagstaff.releases.releases import OPEN_STATES, Alarm, Applied, Arms, Release, State
from flagstaff.values.errors import not_found
from flagstaff.values.lists import WHOLE, Window, parts_of
from flagstaff.values.moments import format_moment

_AT_ONCE = 200

_columns, _changes, _flags = tables.releases.c, tables.changes.c, tables.flags.c
_RELEASES = Resource(
    Release,
    tables.releases,
    reads={
        "steps": lambda stored: tuple(map(_read_step, stored)),
        "guards": lambda stored: tuple(map(_read_guard, stored)),
        "thresholds": lambda stored: tuple(map(_read_threshold, stored)),
        "when_late": WhenLate,
        "split_action": Action,
        "counts": Counts,
        "state": State,
        "applied": lambda stored: tuple(map(_read_applied, stored)),
        "alarms": lambda stored: tuple(map(_read_alarm, stored)),
    },
    writes={
        "steps": lambda steps: list(map(_write_step, steps)),
        "guards": lambda guards: list(map(_write_guard, guards)),
        "thresholds": lambda thresholds: list(map(_write_threshold, thresholds)),
        "applied": lambda applied: list(map(_write_applied, applied)),
        "alarms": lambda alarms: list(map(_write_alarm, alarms)),
    },
    fixed=frozenset(
        {"name", "steps", "guards", "thresholds", "false_alarm_rate", "when_late", "split_action", "counts"}
    ),
)
_is_open = _columns.state.in_(OPEN_STATES)
_of_flag = _RELEASES.select().where(_columns.flag_id == sa.bindparam("flag"))
_listing = Listing(_of_flag, (_columns.created_at, _columns.id), descending=True)
_open_listing = Listing(
    _RELEASES.select().where(_columns.environment_id == sa.bindparam("environment"), _is_open),
    (_columns.created_at, _columns.id),
    descending=True,
)
_by_id = _RELEASES.select().where(_columns.id == sa.bindparam("release"))
_open_of_flag = _of_flag.where(_is_open)
_update = tables.releases.update().where(_columns.id == sa.bindparam("of_release"))
_now = sa.select(DatabaseNow())
# The open releases that are due, and those whose flag was changed since they last looked.
_wanting = (
    sa.select(_columns.id)
    .where(
        _is_open,
        sa.or_(
            _columns.due_at <= DatabaseNow(),
            sa.exists().where(_changes.flag_id == _columns.flag_id, _changes.id > _columns.mark),
        ),
    )
    .order_by(_columns.due_at)
    .limit(sa.bindparam("limit", type_=sa.Integer))
)
# Those that have applied all of their steps, and only watch, come last: their time is that of their end.
_lost = (
    sa.select(_columns.id)
    .where(_columns.state.in_((State.SCHEDULED, State.RUNNING)), lacks_authority())
    .order_by(_columns.due_at)
    .limit(sa.bindparam("limit", type_=sa.Integer))
)
_has_begun = _columns.state.in_((State.RUNNING, State.PAUSED))
_is_observed = sa.or_(
    sa.cast(_columns.guards, sa.Text) != "[]", sa.cast(_columns.steps, sa.Text).like("%least\\_users%", escape="\\")
)
_has_thresholds = sa.cast(_columns.thresholds, sa.Text) != "[]"
# The number of an environment's releases, and numbers that differ whenever one was changed. Times are from 2026 on, and
# the bound keeps the sum of any number of them within 64 bits.
_updated = sa.type_coerce(_columns.updated_at, sa.BigInteger)
_states = (
    sa.select(_columns.environment_id, sa.func.count(), sa.func.max(_updated), sa.func.sum(_updated % (2**31 - 1)))
    .where(_has_begun)
    .group_by(_columns.environment_id)
)
_state_of = _states.where(_columns.environment_id == sa.bindparam("environment"))
_observed_in = sa.select(_columns.id, _columns.updated_at, _columns.environment_id).where(
    _has_begun, _is_observed, _columns.environment_id.in_(sa.bindparam("environments", expanding=True))
)
_updated_in = sa.select(_columns.id, _columns.updated_at).where(
    _has_begun, _columns.environment_id == sa.bindparam("environment")
)
_by_ids = _RELEASES.select().where(_columns.id.in_(sa.bindparam("releases", expanding=True)))
_with_thresholds = sa.select(_columns.id, _columns.updated_at).where(_has_begun, _has_thresholds)
_of_project = _columns.project_id == sa.bindparam("project")
_count_watched = sa.select(
    sa.func.count().filter(_of_project, _columns.environment_id == sa.bindparam("environment")),
    sa.func.count().filter(_of_project),
    sa.func.count(),
).where(_is_open, sa.or_(_is_observed, _has_thresholds))
_watching = (
    sa.select(_flags.key, _columns.guards)
    .join_from(tables.releases, tables.flags, _columns.flag_id == _flags.id)
    .where(_columns.project_id == sa.bindparam("project"), _is_open)
    .order_by(_flags.key)
)


class WatchedCount(NamedTuple):
    """How many releases that have not ended are watched."""

    of_environment: int
    of_project: int
    of_all: int


async def read_clock(connection: AsyncConnection) -> datetime:
    """The database's time, which is the same for all instances."""
    return tables.moment(int((await connection.execute(_now)).scalar_one()))


async def create_release(connection: AsyncConnection, release: Release) -> None:
    """Insert a release."""
    await connection.execute(tables.releases.insert(), _RELEASES.row(release))


async def get_release(connection: AsyncConnection, flag_id: UUID, release_id: UUID) -> Release:
    """The release with this id of a flag; raises Error NOT_FOUND."""
    release = await find_release(connection, release_id)
    if release is None or release.flag_id != flag_id:
        raise not_found("release")
    return release


async def find_release(connection: AsyncConnection, release_id: UUID) -> Release | None:
    """The release with this id, if there is one."""
    row = (await connection.execute(_by_id, {"release": release_id})).one_or_none()
    return None if row is None else _RELEASES.read(row)


async def find_open_release(connection: AsyncConnection, flag_id: UUID) -> Release | None:
    """The release of a flag that has not ended, if there is one."""
    row = (await connection.execute(_open_of_flag, {"flag": flag_id})).first()
    return None if row is None else _RELEASES.read(row)


async def list_releases(connection: AsyncConnection, flag_id: UUID, window: Window = WHOLE) -> Iterator[Release]:
    """The releases of a flag, newest first, by the time of their creation and their id; converted when read."""
    return map(_RELEASES.read, await _listing.rows(connection, window, {"flag": flag_id}))


async def list_open_releases(
    connection: AsyncConnection, environment_id: UUID, window: Window = WHOLE
) -> Iterator[Release]:
    """The releases of an environment that have not ended, newest first; converted when read."""
    return map(_RELEASES.read, await _open_listing.rows(connection, window, {"environment": environment_id}))


async def list_wanting(connection: AsyncConnection, limit: int) -> list[UUID]:
    """The releases that are due, and those whose flag somebody has changed; the ones due first come first."""
    return list((await connection.execute(_wanting, {"limit": limit})).scalars())


async def list_lost(connection: AsyncConnection, limit: int) -> list[UUID]:
    """The releases that go on, although their authors may not change the flag any more."""
    return list((await connection.execute(_lost, {"limit": limit})).scalars())


async def read_states(connection: AsyncConnection) -> dict[UUID, tuple[object, ...]]:
    """Numbers that change whenever a release that has begun does, by environment: cheaper than to list them."""
    return {environment_id: tuple(state) for environment_id, *state in await connection.execute(_states)}


async def read_state(connection: AsyncConnection, environment_id: UUID) -> tuple[object, ...]:
    """The same of one environment; empty if no release there has begun and not ended."""
    row = (await connection.execute(_state_of, {"environment": environment_id})).one_or_none()
    return () if row is None else tuple(row[1:])


async def list_observed(
    connection: AsyncConnection, environment_ids: Collection[UUID]
) -> dict[UUID, dict[UUID, datetime]]:
    """The releases for which evaluations and events are to be counted, with the time of their last change.

    By environment, of the given ones.
    """
    found: dict[UUID, dict[UUID, datetime]] = {each: {} for each in environment_ids}
    for some in parts_of([*environment_ids], _AT_ONCE):
        for row in await connection.execute(_observed_in, {"environments": some}):
            found[row.environment_id][row.id] = row.updated_at
    return found


async def list_updated(connection: AsyncConnection, environment_id: UUID) -> dict[UUID, datetime]:
    """The releases of an environment that have begun and not ended, with the time of their last change."""
    rows = await connection.execute(_updated_in, {"environment": environment_id})
    return {row.id: row.updated_at for row in rows}


async def find_releases(connection: AsyncConnection, release_ids: Collection[UUID]) -> dict[UUID, Release | Exception]:
    """Find releases; an error in place of one that cannot be read."""
    found: dict[UUID, Release | Exception] = {}
    for some in parts_of([*release_ids], _AT_ONCE):
        for row in await connection.execute(_by_ids, {"releases": some}):
            try:
                found[row.id] = _RELEASES.read(row)
            except Exception as error:  # noqa: BLE001 - it is told, and the others are watched
                found[row.id] = error
    return found


async def list_with_thresholds(connection: AsyncConnection) -> dict[UUID, datetime]:
    """The releases that have begun, have not ended, and have thresholds, with the time of their last change."""
    return {row.id: row.updated_at for row in await connection.execute(_with_thresholds)}


async def list_watched(connection: AsyncConnection, project_id: UUID, metric: str) -> Sequence[str]:
    """The keys of the flags whose releases watch a metric and have not ended."""
    rows = await connection.execute(_watching, {"project": project_id})
    return [key for key, guards in rows if any(each["metric"] == metric for each in guards)]


async def count_watched(connection: AsyncConnection, project_id: UUID, environment_id: UUID) -> WatchedCount:
    """Count the releases that have not ended and have guards, thresholds or `least_users`."""
    given = {"project": project_id, "environment": environment_id}
    return WatchedCount(*(await connection.execute(_count_watched, given)).one())


async def update_release(connection: AsyncConnection, release: Release) -> None:
    """Update a release's mutable fields."""
    await connection.execute(_update, {"of_release": release.id, **_RELEASES.changes(release)})


async def postpone(connection: AsyncConnection, release_id: UUID, seconds: float) -> None:
    """Look at a release that is due again in some seconds, unless it was changed meanwhile."""
    later = DatabaseNow() + int(seconds * 1_000_000)
    of_release = sa.and_(_columns.id == release_id, _is_open, _columns.due_at <= DatabaseNow())
    await connection.execute(tables.releases.update().where(of_release).values(due_at=later))


async def list_ended(connection: AsyncConnection, before: datetime) -> set[UUID]:
    """The releases that ended before a moment."""
    return set((await connection.execute(sa.select(_columns.id).where(_columns.ended_at < before))).scalars())


async def delete_oldest(connection: AsyncConnection, flag_id: UUID, kept: int) -> None:
    """Delete the releases of a flag that have ended, beyond the newest."""
    ended = sa.select(_columns.id).where(_columns.flag_id == flag_id, ~_is_open)
    beyond = ended.order_by(_columns.created_at.desc(), _columns.id.desc()).offset(kept).limit(kept)
    ids = (await connection.execute(beyond)).scalars().all()
    if ids:
        await connection.execute(tables.releases.delete().where(_columns.id.in_(ids)))


async def list_ids(connection: AsyncConnection) -> set[UUID]:
    """The ids of all releases."""
    return set((await connection.execute(sa.select(_columns.id))).scalars())


def _write_guard(guard: Guard) -> dict[str, Any]:
    written = {"metric": guard.metric, "action": guard.action, "tolerates": guard.tolerates}
    return written | ({"tolerates_amount": guard.tolerates_amount} if guard.tolerates_amount else {})


def _read_guard(stored: Mapping[str, Any]) -> Guard:
    return Guard(**{**stored, "action": Action(stored["action"])})


def _write_step(step: Step) -> dict[str, Any]:
    written: dict[str, Any] = {"changes": dict(step.changes)}
    if step.at is not None:
        written["at"] = format_moment(step.at)
    else:
        written["after_seconds"] = step.after_seconds
    if step.least_users is not None:
        written["least_users"] = step.least_users
    return written


def _read_step(stored: Mapping[str, Any]) -> Step:
    at = stored.get("at")
    return Step(
        stored["changes"], at and datetime.fromisoformat(at), stored.get("after_seconds"), stored.get("least_users")
    )


def _write_threshold(threshold: Threshold) -> dict[str, Any]:
    return {**asdict(threshold), "labels": dict(threshold.labels)}


def _read_threshold(stored: Mapping[str, Any]) -> Threshold:
    return Threshold(
        **{
            **stored,
            "measure": Measure(stored["measure"]),
            "action": Action(stored["action"]),
            "labels": tuple(sorted(stored["labels"].items())),
        }
    )


def _write_applied(applied: Applied) -> dict[str, Any]:
    arms = applied.arms
    return {
        "step": applied.step,
        "at": format_moment(applied.at),
        "due_at": format_moment(applied.due_at),
        "is_late": applied.is_late,
        "is_skipped": applied.is_skipped,
        "skipped": list(applied.skipped),
        "arms": arms and {"names": arms.names, "shares": arms.shares, "by_variant": arms.by_variant},
        "rollout_percentage": applied.rollout_percentage,
        "stickiness": applied.stickiness,
        "hashed_key": applied.hashed_key,
    }


def _read_applied(stored: Mapping[str, Any]) -> Applied:
    arms = stored["arms"]
    return Applied(
        **{
            **stored,
            "at": datetime.fromisoformat(stored["at"]),
            "due_at": datetime.fromisoformat(stored["due_at"]),
            "skipped": tuple(stored["skipped"]),
            "arms": arms and Arms(tuple(arms["names"]), tuple(arms["shares"]), arms["by_variant"]),
        }
    )


def _write_alarm(alarm: Alarm) -> dict[str, Any]:
    return {
        "metric": alarm.metric,
        "action": alarm.action,
        "at": format_moment(alarm.at),
        "evidence": alarm.evidence,
        "threshold": alarm.threshold,
        "words": alarm.words,
        **({} if alarm.place is None else {"request_metric": alarm.request_metric, "place": alarm.place}),
    }


def _read_alarm(stored: Mapping[str, Any]) -> Alarm:
    action = stored["action"]
    return Alarm(**{**stored, "at": datetime.fromisoformat(stored["at"]), "action": action and Action(action)})
