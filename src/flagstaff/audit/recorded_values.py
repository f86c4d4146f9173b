"""Reads fields of flags, rules and segments from their recorded form: that of the audit trail and of the API."""

from datetime import datetime
from typing import Any
from uuid import UUID

from flagstaff.flags.flags import Fallthrough, RuleType
from flagstaff.flags.prerequisites import Prerequisite
from flagstaff.flags.targeting.conditions import Condition, Operator
from flagstaff.flags.variants import Variant, encode_value


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
