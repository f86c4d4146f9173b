"""An environment's flags as a file: a bootstrap file for SDKs, or a copy that people and programs can read."""

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any
from uuid import UUID

import msgspec

from flagstaff.applications.local_flags_service import ReadEnvironment, read_environment
from flagstaff.changes.changes import OWN_FIELDS, Actor
from flagstaff.concurrency.lots import Lot
from flagstaff.concurrency.worker import in_worker
from flagstaff.conditions.conditions import Condition
from flagstaff.database.database import Database
from flagstaff.evaluation.compiler import TargetedFlag, tried_in_order
from flagstaff.evaluation.unleash.differences import Difference
from flagstaff.flags import flags_store
from flagstaff.flags.access import FlagPath, open_flag
from flagstaff.flags.flags import Flag, Rule
from flagstaff.flags.targeting.segments import Segment
from flagstaff.insight.flag_sets import read_some
from flagstaff.permissions.permissions import Permission
from flagstaff.projects import environments_store
from flagstaff.projects.access import open_environment
from flagstaff.values.errors import not_found
from flagstaff.values.views import view_of

FLAGS_AT_ONCE = 200
_encode = msgspec.json.Encoder().encode


class ExportFormat(StrEnum):
    """The reader of the file."""

    UNLEASH = "unleash"
    """Unleash's SDKs, at their start: what the client API answers."""
    FLAGSTAFF = "flagstaff"
    """People and programs: flags with their rules and the project's segments, as they were made."""


@dataclass(frozen=True, slots=True)
class FlagExports:
    """The use cases of exports. Raises Error NOT_FOUND for resources that are not the actor's."""

    database: Database

    async def export(
        self, actor: Actor, project_id: UUID, environment_id: UUID, kind: ExportFormat, lot: Lot
    ) -> AsyncIterator[Iterable[bytes]]:
        """The file's JSON in batches, each in pieces that are made when they are read.

        The descriptions are read with their batch, of `lot.rows` flags, because all together can have 200 MB. One that
        is changed meanwhile is the new one; everything else is as it was in one moment.
        """
        async with self.database.read() as connection:
            environment = await open_environment(connection, actor, project_id, environment_id, Permission.FLAGS_READ)
            read = await read_environment(connection, environment)
        return self._batches(read, kind, lot)

    async def export_for_operator(
        self, project_id: UUID, environment_key: str, kind: ExportFormat
    ) -> AsyncIterator[Iterable[bytes]]:
        """The same for whoever has the database, on the command line."""
        async with self.database.read() as connection:
            found = await environments_store.list_environments(connection, project_id)
            environment = next((each for each in found if each.key == environment_key), None)
            if environment is None:
                raise not_found("project or environment")
            read = await read_environment(connection, environment)
        return self._batches(read, kind, Lot(FLAGS_AT_ONCE))

    async def _batches(self, read: ReadEnvironment, kind: ExportFormat, lot: Lot) -> AsyncIterator[Iterable[bytes]]:
        if kind is ExportFormat.UNLEASH:
            yield (await in_worker(read.encode)).payloads[""].document.chunks()
            return
        flags, segments = await in_worker(read.collect)
        environment = {"key": read.found.environment.key, "name": read.found.environment.name}
        yield (_encode({"version": 1, "environment": environment, "revision": read.revision})[:-1], b',"flags":[')
        keys, start = sorted(flags), 0
        while start < len(keys):
            some = [flags[key] for key in keys[start : start + lot.rows]]
            async with self.database.read() as connection:
                texts = await flags_store.find_descriptions(connection, [each.flag.id for each in some])
            yield _separate((_flag(each, texts.get(each.flag.id)) for each in some), is_first=start == 0)
            start += len(some)
        yield (b'],"segments":[',)
        yield _separate(_segment(each) for _, each in sorted(segments.items()))
        yield (b"]}\n",)

    async def list_differences(self, actor: Actor, path: FlagPath) -> tuple[Difference, ...]:
        """List the differences of SDKs that evaluate a flag in the application; they get no archived flag."""
        async with self.database.read() as connection:
            flag = await open_flag(connection, actor, path, Permission.FLAGS_READ)
            if flag.archived_at is not None:
                return ()
            environment = await environments_store.get_environment(connection, path.project_id, path.environment_id)
            some = await read_some(connection, environment, [flag.key], None)
        read = ReadEnvironment(some, revision=0)
        return (await in_worker(read.translate))[flag.key].differences


def _separate(items: Iterable[Mapping[str, Any]], *, is_first: bool = True) -> Iterator[bytes]:
    """The JSON of the items, with commas between them, and before the first of a later batch."""
    for place, item in enumerate(items):
        if place or not is_first:
            yield b","
        yield _encode(item)


def _flag(targeted: TargetedFlag, description: str | None) -> dict[str, Any]:
    flag = targeted.flag
    return {
        "key": flag.key,
        **_plain(flag),
        "description": description,
        "variants": [
            {"key": each.key, "weight": each.weight, "value": msgspec.Raw(each.value.encode())}
            for each in flag.variants
        ],
        "prerequisites": [asdict(each) for each in flag.prerequisites],
        "rules": [_rule(rule) for rule in tried_in_order(targeted.rules)],
    }


def _conditions(conditions: Iterable[Condition]) -> list[dict[str, Any]]:
    return [asdict(each) for each in conditions]


def _own(kind: type[Any]) -> frozenset[str]:
    """The fields that are not exported: they say which resource it is, or when it was written."""
    return OWN_FIELDS.intersection(each.name for each in fields(kind))


_plain = view_of(Flag, without=(*_own(Flag), "archived_at", "key", "variants", "prerequisites"))
_rule = view_of(Rule, without=_own(Rule), conditions=_conditions)
_segment = view_of(Segment, without=_own(Segment), conditions=_conditions)
