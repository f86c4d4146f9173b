"""The ids that clients gave events, so that a repetition counts once: digests of eight bytes, 100 or so in a row.

A *generation* has ids of an environment that came with a kind of key, of one day and a quarter of all at most; it is
forgotten whole. Its pages divide the digests by their order, as the leaves of a B-tree do: a digest is in the last page
that does not begin after it.

Of N remembered ids, a new one is taken for a repetition with a probability of N / 2**64: one event in 10**12 beside
the 10,000,000 ids of a project.

Releases before 1003 keep a row for each id in `event_ids`, which is read here. A trigger keeps them from adding those
that are in pages, so that no event counts twice while both serve, or after a way back.
"""

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.concurrency.worker import in_write_worker
from flagstaff.database import tables
from flagstaff.projects.sdk_keys import KeyKind
from flagstaff.values.lists import parts_of

GENERATION_IDS = 50_000
"""Ids of a generation at least before the next one begins, unless a day ends."""
_GENERATIONS = 4  # a generation has this part of the ids at most, and what is forgotten together is no larger
PAGE_IDS = 120
"""Ids of a page: a page is rewritten for each id, and shorter ones take more bytes for indexes."""
_AT_ONCE = 1_000
_IN_LOOP_MAX = 50  # ids that are compared without a thread, which takes less than a tenth of a millisecond
_DIGITS, _BYTES = 16, 8

_generations, _pages, _old = tables.event_id_generations.c, tables.event_id_pages.c, tables.event_ids.c
_encode = msgspec.json.Encoder().encode

_environment: sa.BindParameter[int] = sa.bindparam("environment")
_of_environment = (
    sa.select(tables.event_id_generations).where(_generations.environment == _environment).order_by(_generations.id)
)
_add_generation = tables.event_id_generations.insert().returning(_generations.id)
_count = (
    tables.event_id_generations.update()
    .where(_generations.id == sa.bindparam("generation"))
    .values(ids=_generations.ids + sa.bindparam("added"))
)
_put_pages_on_sqlite = sa.text(
    "INSERT INTO event_id_pages (generation, first, content) VALUES (:generation, :first, :content) "
    "ON CONFLICT (generation, first) DO UPDATE SET content = excluded.content"
)
_put_pages_on_postgresql = sa.text(
    "INSERT INTO history.event_id_pages (generation, first, content) SELECT :generation, page.first, page.content "
    "FROM unnest(CAST(:firsts AS text[]), CAST(:contents AS bytea[])) AS page (first, content) "
    "ON CONFLICT (generation, first) DO UPDATE SET content = excluded.content"
)
_find_pages_on_sqlite = sa.text(
    "SELECT generation, first, content FROM event_id_pages WHERE (generation, first) IN (SELECT g.value, "
    "(SELECT p.first FROM event_id_pages p WHERE p.generation = g.value AND p.first <= d.value "
    "ORDER BY p.first DESC LIMIT 1) FROM json_each(:generations) g, json_each(:digests) d)"
)
_find_pages_on_postgresql = sa.text(
    "SELECT generation, first, content FROM history.event_id_pages WHERE (generation, first) IN (SELECT g, "
    "(SELECT p.first FROM history.event_id_pages p WHERE p.generation = g AND p.first <= d "
    "ORDER BY p.first DESC LIMIT 1) "
    "FROM unnest(CAST(:generations AS bigint[])) g, json_array_elements_text(CAST(:digests AS json)) d)"
)
_find_old_on_sqlite = sa.text(
    "SELECT digest FROM event_ids WHERE environment = :environment "
    "AND digest IN (SELECT value FROM json_each(:digests))"
)
_find_old_on_postgresql = sa.text(
    "SELECT digest FROM history.event_ids WHERE environment = :environment "
    "AND digest IN (SELECT json_array_elements_text(CAST(:digests AS json)))"
)


class IdGeneration(NamedTuple):
    """Some ids of an environment that came with one kind of key, until a day, which is counted from 1970."""

    id: int
    environment: int
    key_kind: KeyKind
    day: int
    ids: int


def key_of(digest: str) -> str:
    """The part of a digest that is compared, in hexadecimal."""
    return digest[:_DIGITS]


async def add_new_ids(
    connection: AsyncConnection,
    environment: int,
    digests: Collection[str],
    kind: KeyKind | None,
    day: int,
    generation_ids: int = GENERATION_IDS,
) -> set[str]:
    """Add those ids of events to an environment, whose lock the transaction holds, that are new; return their keys.

    The ids are digests in hexadecimal. A kind of key that is not known counts as a server's.
    """
    added = set[str]()
    for part in parts_of(sorted(digests), _AT_ONCE):
        added |= await _add_part(connection, environment, part, kind, day, generation_ids)
    return added


async def _add_part(
    connection: AsyncConnection,
    environment: int,
    digests: Sequence[str],
    kind: KeyKind | None,
    day: int,
    generation_ids: int,
) -> set[str]:
    own = kind or KeyKind.SERVER
    listed = [_generation(each) for each in await connection.execute(_of_environment, {"environment": environment})]
    wanted = [each for each in listed if kind is None or each.key_kind is own]
    newest = next((each for each in reversed(wanted) if each.key_kind is own), None)
    full = max(generation_ids, sum(each.ids for each in wanted) // _GENERATIONS)
    current = newest if newest and newest.day >= day and newest.ids < full else None
    pages = await _find_pages(connection, [each.id for each in wanted], digests)
    known = {key_of(each) for each in await _find_old(connection, environment, digests)}
    place = current and current.id
    if len(digests) * max(len(wanted), 1) <= _IN_LOOP_MAX:
        plan = _plan(pages, digests, known, place)
    else:
        plan = await in_write_worker(_plan, pages, digests, known, place)
    if plan.added:
        if place is None:
            values = {"environment": environment, "key_kind": own, "day": day, "ids": 0}
            place = (await connection.execute(_add_generation, values)).scalar_one()
        await _put_pages(connection, place, plan.changed)
        await connection.execute(_count, {"generation": place, "added": len(plan.added)})
    return plan.added


async def _find_pages(
    connection: AsyncConnection, generations: Sequence[int], digests: Sequence[str]
) -> dict[int, dict[str, bytes]]:
    """The pages of generations that the digests belong to: their contents, by generation and first digest."""
    found: dict[int, dict[str, bytes]] = {each: {} for each in generations}
    if generations:
        keys = _encode([key_of(each) for each in digests]).decode()
        if connection.dialect.name == "postgresql":
            given = {"generations": list(generations), "digests": keys}
            rows = await connection.execute(_find_pages_on_postgresql, given)
        else:
            given = {"generations": _encode(generations).decode(), "digests": keys}
            rows = await connection.execute(_find_pages_on_sqlite, given)
        for generation, first, content in rows:
            found[generation][first] = content
    return found


async def _put_pages(connection: AsyncConnection, generation: int, pages: Mapping[str, bytes]) -> None:
    if connection.dialect.name == "postgresql":
        given = {"generation": generation, "firsts": list(pages), "contents": list(pages.values())}
        await connection.execute(_put_pages_on_postgresql, given)
    else:
        rows = [{"generation": generation, "first": first, "content": each} for first, each in sorted(pages.items())]
        await connection.execute(_put_pages_on_sqlite, rows)


async def _find_old(connection: AsyncConnection, environment: int, digests: Sequence[str]) -> Collection[str]:
    """Find the digests that have a row of their own."""
    statement = _find_old_on_postgresql if connection.dialect.name == "postgresql" else _find_old_on_sqlite
    given = {"environment": environment, "digests": _encode(digests).decode()}
    return (await connection.execute(statement, given)).scalars().all()


@dataclass(slots=True)
class _Plan:
    """The keys of new ids, and the changed pages of the newest generation by their first digest."""

    added: set[str] = field(default_factory=set)
    changed: dict[str, bytes] = field(default_factory=dict)


def _plan(
    pages: Mapping[int, Mapping[str, bytes]], digests: Sequence[str], known: Collection[str], current: int | None
) -> _Plan:
    new = {key: bytes.fromhex(key) for key in map(key_of, digests) if key not in known}
    for some in pages.values():
        firsts = sorted(some)
        for key, digest in list(new.items()):
            place = bisect_right(firsts, key) - 1
            if place >= 0 and _has(some[firsts[place]], digest):
                del new[key]
    present = {} if current is None else pages[current]
    firsts = sorted(present)
    grown: dict[str, list[bytes]] = {}
    for key, digest in new.items():
        place = bisect_right(firsts, key) - 1
        grown.setdefault(firsts[place] if place >= 0 else "", []).append(digest)
    plan = _Plan(set(new))
    for first, some_new in grown.items():
        plan.changed.update(_divided(first, present.get(first, b"") + b"".join(some_new)))
    return plan


def _has(content: bytes, digest: bytes) -> bool:
    place = content.find(digest)
    while place % _BYTES and place >= 0:  # parts of two others
        place = content.find(digest, place + 1)
    return place >= 0


def _divided(first: str, content: bytes) -> dict[str, bytes]:
    """A page, or several half-filled ones if it is too long, by their first digests."""
    if len(content) <= PAGE_IDS * _BYTES:
        return {first: content}
    ordered = sorted(content[start : start + _BYTES] for start in range(0, len(content), _BYTES))
    parts = [*parts_of(ordered, PAGE_IDS // 2)]
    return {(part[0].hex() if place else first): b"".join(part) for place, part in enumerate(parts)}


def _generation(row: sa.Row[*tuple[object, ...]]) -> IdGeneration:
    return IdGeneration(row.id, row.environment, KeyKind(row.key_kind), row.day, row.ids)


async def list_generations(connection: AsyncConnection) -> list[IdGeneration]:
    """The generations of all environments, oldest first."""
    query = sa.select(tables.event_id_generations).order_by(_generations.id)
    return [_generation(each) for each in await connection.execute(query)]


async def list_generations_of(connection: AsyncConnection, environment: int) -> list[IdGeneration]:
    """The generations of an environment, oldest first."""
    return [_generation(each) for each in await connection.execute(_of_environment, {"environment": environment})]


async def delete_generation(connection: AsyncConnection, generation: int, limit: int) -> bool:
    """Forget `limit` pages of a generation, whose environment is locked; return whether there may be more."""
    some = sa.select(_pages.first).where(_pages.generation == generation).order_by(_pages.first).limit(limit)
    pages = tables.event_id_pages.delete().where(_pages.generation == generation, _pages.first.in_(some))
    if (await connection.execute(pages)).rowcount == limit:
        return True
    await connection.execute(tables.event_id_generations.delete().where(_generations.id == generation))
    return False


async def delete_old_rows(connection: AsyncConnection, before_day: int, limit: int) -> bool:
    """Delete some ids with rows of their own from before a day; return whether there may be more."""
    old = sa.select(_old.environment, _old.digest).where(_old.day < before_day).order_by(_old.day).limit(limit)
    keys = [tuple(row) for row in await connection.execute(old)]
    if keys:
        await connection.execute(tables.event_ids.delete().where(sa.tuple_(_old.environment, _old.digest).in_(keys)))
    return len(keys) == limit


async def delete_rows_of(connection: AsyncConnection, environment: int) -> None:
    """Delete the ids of an environment that have rows of their own."""
    await connection.execute(tables.event_ids.delete().where(_old.environment == environment))
