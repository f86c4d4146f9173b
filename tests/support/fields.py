"""Walks the fields of a resource: each in turn with another value."""

from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import datetime, timedelta
from enum import StrEnum
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin
from uuid import UUID

from uuid_utils.compat import uuid7

from flagstaff.conditions.conditions import Condition
from flagstaff.conditions.operators import Operator
from flagstaff.flags.prerequisites import Prerequisite
from flagstaff.flags.variants import Variant

T = TypeVar("T")

_ITEMS: Mapping[Any, Any] = {
    str: "other",
    UUID: UUID(int=7),
    Variant: Variant("other", 100, '"other"'),
    Prerequisite: Prerequisite("other", enabled=False),
    Condition: Condition("plan", Operator("in"), ("other",)),
}


def field_names(kind: type[Any]) -> list[str]:
    """The fields with which instances of a dataclass are made."""
    return [each.name for each in fields(kind) if each.init]


def altered(resource: T, name: str) -> T:
    """The resource with another value of a field."""
    (kind,) = (each.type for each in fields(resource) if each.name == name)  # type: ignore[arg-type]
    return replace(resource, **{name: _other(getattr(resource, name), kind)})  # type: ignore[type-var]


def _other(value: Any, kind: Any) -> Any:
    if NoneType in get_args(kind):
        (kind,) = (each for each in get_args(kind) if each is not NoneType)
    if get_origin(kind) is tuple:
        return (_ITEMS[get_args(kind)[0]],)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return next(each for each in kind if each is not value)
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case datetime():
            return value + timedelta(days=1)
        case UUID():
            return uuid7()
        case str():
            return value + "-other"
    return {bool: True, int: 7, str: "other", UUID: uuid7(), datetime: datetime(2026, 11, 21).astimezone()}[kind]
