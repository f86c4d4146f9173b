"""Ids and keys in paths, where anything but a UUID is not found, and in bodies and queries, where it is invalid."""

import re
from typing import Annotated
from uuid import UUID

from fastapi import Path
from pydantic import BeforeValidator, Field, PlainValidator, WithJsonSchema

from flagstaff.api.schemas import at_most, distinct
from flagstaff.values.errors import not_found
from flagstaff.values.keys import FLAG_KEY_PATTERN, KEY_MAX_LENGTH, check_flag_key

ENVIRONMENTS_MAX = 100
"""The most environments that a request names."""

_uuid = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_number = re.compile("[0-9]{1,18}")


def parse_id(given: str) -> UUID | None:
    """The id in a text, or None unless it is a UUID in its usual form."""
    return UUID(given) if _uuid.fullmatch(given) else None


def _read(given: str) -> UUID:
    found = parse_id(given)
    if found is None:
        raise not_found("resource")
    return found


def _read_given(given: object) -> UUID:
    found = parse_id(given) if isinstance(given, str) else None
    if found is None:
        raise ValueError("must be a UUID")
    return found


Id = Annotated[UUID, Path(), PlainValidator(_read), WithJsonSchema({"type": "string", "format": "uuid"})]

GivenId = Annotated[UUID, BeforeValidator(_read_given), WithJsonSchema({"type": "string", "format": "uuid"})]


EnvironmentIds = Annotated[
    list[GivenId],
    at_most(ENVIRONMENTS_MAX),
    distinct("an environment"),
    Field(json_schema_extra={"minItems": 1, "maxItems": ENVIRONMENTS_MAX, "uniqueItems": True}),
]


def _read_flag_key(given: str) -> str:
    try:
        return check_flag_key(given)
    except ValueError:
        raise not_found("flag") from None


FlagKeyInPath = Annotated[
    str,
    Path(),
    PlainValidator(_read_flag_key),
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": KEY_MAX_LENGTH, "pattern": FLAG_KEY_PATTERN}),
]


def _read_number(given: str) -> int:
    if not _number.fullmatch(given):
        raise not_found("change")
    return int(given)


ChangeId = Annotated[int, Path(), PlainValidator(_read_number), WithJsonSchema({"type": "string"})]
