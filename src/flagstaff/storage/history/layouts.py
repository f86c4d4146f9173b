"""Layouts in the database: encoding and decoding."""

import asyncio
from collections.abc import Collection, Sequence
from uuid import UUID
from zlib import compress, decompress

import msgspec
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.evaluation.history.layout import Decider, Layout
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.pacing import Turns
from flagstaff.storage import tables

_VERSIONS = (1, 2, 3, 4, 5)  # the same form; Layout.version says what they hold
_LEVEL = 1  # a third of the time that the default takes, for a sixth more bytes

_layouts = tables.layouts.c


class _StoredFlag(msgspec.Struct, omit_defaults=True):
    """A flag of a layout, without what only newer versions have."""

    id: UUID
    key: str
    rollout_percentage: int
    default: Outcome
    deciders: tuple[Decider, ...] = ()
    has_bucket: bool = False
    variants: tuple[str, ...] = ()


async def encode_layout(layout: Layout) -> bytes:
    """The stored form of a layout, in its version: its flags as msgpack, compressed.

    A layout of thousands of flags takes milliseconds, so it is compressed in a thread, which evaluations do not wait
    for.
    """
    return await asyncio.to_thread(lambda: compress(msgspec.msgpack.encode(_stored(layout)), _LEVEL))


def _stored(layout: Layout) -> dict[str, Sequence[object]]:
    flags: dict[str, Sequence[object]] = {
        name: [
            _StoredFlag(**{field: getattr(flag, field) for field in _StoredFlag.__struct_fields__}) for flag in flags
        ]
        for name, flags in (("recorded", layout.recorded), ("constant", layout.constant))
    }
    return {**flags, "attributes": layout.attributes} if layout.attributes else flags


def decode_layout(version: int, content: bytes) -> Layout:
    """A layout from its stored form. Raises ValueError for an unknown version."""
    if version not in _VERSIONS:
        raise ValueError(f"layouts of version {version} are unknown")
    return msgspec.msgpack.decode(decompress(content), type=Layout)


async def get_layouts(connection: AsyncConnection, layout_ids: Collection[int]) -> dict[int, Layout]:
    """Layouts by their ids."""
    query = sa.select(_layouts.id, _layouts.version, _layouts.content).where(_layouts.id.in_(layout_ids))
    found, turns = {}, Turns()
    for layout_id, version, content in await connection.execute(query):
        found[layout_id] = decode_layout(version, content)
        await turns.give()
    return found
