"""Layouts in the database: encoding and decoding."""

import asyncio
from collections.abc import Collection, Iterable, Sequence
from uuid import UUID
from zlib import compress, decompress

import msgspec
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.concurrency.worker import Run, in_worker
from flagstaff.database import tables
from flagstaff.evaluation.history.layout import Decider, Layout, LayoutFlag
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.history.store.columns import UnknownVersionError

_VERSIONS = (1, 2, 3, 4, 5)  # the same form; Layout.version says what they hold
_LARGE_BYTES = 8 * 1024  # of more than 500 flags, which take more than a millisecond to read
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


class _StoredLayout(msgspec.Struct):
    """A layout whose flags are not decoded yet."""

    recorded: list[msgspec.Raw]
    constant: list[msgspec.Raw]
    attributes: tuple[str, ...] = ()


_flag_decoder = msgspec.msgpack.Decoder(LayoutFlag)


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


async def decode_layout(version: int, content: bytes, run: Run = in_worker) -> Layout:
    """A layout from its stored form; a large one is read in a thread.

    Raises UnknownVersionError if it is too new.
    """
    if version not in _VERSIONS:
        raise UnknownVersionError(f"layouts of version {version} are unknown")
    if len(content) <= _LARGE_BYTES:
        return _read(content)
    layout: Layout = await run(_read, content)
    return layout


def _read(content: bytes) -> Layout:
    stored = msgspec.msgpack.decode(decompress(content), type=_StoredLayout)
    recorded = _decode_flags(stored.recorded)
    constant = _decode_flags(stored.constant)
    return Layout(recorded, constant, stored.attributes)


def _decode_flags(stored: Iterable[msgspec.Raw]) -> tuple[LayoutFlag, ...]:
    return tuple(map(_flag_decoder.decode, stored))


async def get_layouts(
    connection: AsyncConnection, layout_ids: Collection[int], run: Run = in_worker
) -> dict[int, Layout]:
    """Layouts by their ids; large ones are read in a thread."""
    query = sa.select(_layouts.id, _layouts.version, _layouts.content).where(_layouts.id.in_(layout_ids))
    return {
        layout_id: await decode_layout(version, content, run)
        for layout_id, version, content in await connection.execute(query)
    }
