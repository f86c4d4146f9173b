"""Reads flags, rules and segments from the form that the audit trail and the API have in common."""

from collections.abc import Mapping
from dataclasses import MISSING, fields
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from flagstaff.conditions.conditions import Condition
from flagstaff.conditions.operators import Operator
from flagstaff.flags.flags import Fallthrough, Flag, Rule, RuleType
from flagstaff.flags.prerequisites import Prerequisite
from flagstaff.flags.targeting.segments import Segment
from flagstaff.flags.variants import Variant, encode_value

T = TypeVar("T", Flag, Rule, Segment)


def read_resource(kind: type[T], values: Mapping[str, Any]) -> T:
    """A whole resource; fields that were added to resources since get their defaults.

    Raises:
        LookupError: with the names of others that are missing.
    """
    known = [field for field in fields(kind) if field.name in values]
    missing = {field.name for field in fields(kind) if field.default is MISSING} - values.keys()
    if missing:
        raise LookupError(", ".join(sorted(missing)))
    return kind(**{field.name: read_value(field.name, values[field.name]) for field in known})


def read_value(name: str, value: Any) -> Any:
    """The value of a field with this name as the domain has it."""
    if value is None:
        return None
    match name:
        case "id" | "project_id" | "environment_id" | "flag_id":
            return UUID(value)
        case "created_at" | "updated_at" | "archived_at":
            return datetime.fromisoformat(value)
        case "fallthrough":
            return Fallthrough(value)
        case "rule_type":
            return RuleType(value)
        case "tags":
            return tuple(value)
        case "variants":
            return tuple(Variant(each["key"], each["weight"], encode_value(each["value"])) for each in value)
        case "prerequisites":
            return tuple(Prerequisite(**{**each, "variants": tuple(each["variants"])}) for each in value)
        case "conditions":
            read = ({**each, "operator": Operator(each["operator"]), "values": tuple(each["values"])} for each in value)
            return tuple(Condition(**each) for each in read)
        case _:
            return value
