"""Layouts in the database: encoding and decoding."""

from collections.abc import Collection
from zlib import compress, decompress

import msgspec
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.evaluation.history.layout import Layout
from flagstaff.pacing import Turns
from flagstaff.storage import tables

LAYOUT_VERSION = 1

_layouts = tables.layouts.c


def encode_layout(layout: Layout) -> bytes:
    """The stored form of a layout, in the newest version: its flags as msgpack, compressed."""
    return compress(msgspec.msgpack.encode(layout))


def decode_layout(version: int, content: bytes) -> Layout:
    """A layout from its stored form. Raises ValueError for an unknown version."""
    if version != LAYOUT_VERSION:
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
