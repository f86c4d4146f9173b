"""Ids in paths. Anything but a UUID is not found rather than invalid."""

import re
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Path
from pydantic import PlainValidator, WithJsonSchema

from flagstaff.domain.errors import not_found
from flagstaff.services.access import FlagPath

_uuid = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def parse_id(given: str) -> UUID | None:
    """The id in a text, or None unless it is a UUID in its usual form."""
    return UUID(given) if _uuid.fullmatch(given) else None


def _read(given: str) -> UUID:
    found = parse_id(given)
    if found is None:
        raise not_found("resource")
    return found


Id = Annotated[UUID, Path(), PlainValidator(_read), WithJsonSchema({"type": "string", "format": "uuid"})]


async def _flag_path(project_id: Id, env_id: Id, flag_id: Id) -> FlagPath:
    return FlagPath(project_id, env_id, flag_id)


FlagIds = Annotated[FlagPath, Depends(_flag_path)]
