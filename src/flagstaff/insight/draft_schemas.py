"""Drafts of flags in requests: a flag and all of its rules as they might be saved."""

from typing import Annotated, Any, ClassVar
from uuid import UUID

from fastapi.exceptions import RequestValidationError
from pydantic import Field, PlainValidator, ValidationError, WithJsonSchema, WrapValidator
from pydantic_core import PydanticKnownError

from flagstaff.api.ids import parse_id
from flagstaff.api.schemas import Update, at_most
from flagstaff.flags import flags_routes
from flagstaff.flags.flags_routes import NewFlag
from flagstaff.flags.targeting import rules_routes
from flagstaff.flags.targeting.rules_routes import NewRule
from flagstaff.http.operations import TEXT_BODY
from flagstaff.http.responses import encode_json
from flagstaff.insight.drafts import Draft, DraftRule
from flagstaff.values.errors import invalid_field

MAX_RULES = 1000


def _read_id(given: Any) -> UUID | None:
    found = parse_id(given) if isinstance(given, str) else None
    if found is None and given is not None:
        raise ValueError("must be a UUID, or null for a new rule")
    return found


def _leave_rules(given: Any, _validate: Any) -> Any:
    """Leave the rules to `read_draft`: validating a thousand takes tens of milliseconds."""
    if not isinstance(given, list):
        raise PydanticKnownError("list_type")
    return given


class RuleDraft(NewRule, Update, json_schema_extra={"required": ["rule_type"]}):
    """A rule that might be saved. One with an `id` stands in for that rule of the saved flag.

    It has the form in which rules are read. One of the type `attributes` must have `conditions`.
    """

    read_only: ClassVar[frozenset[str]] = rules_routes.RuleUpdate.read_only - {"id"}

    id: Annotated[
        UUID | None, PlainValidator(_read_id), WithJsonSchema({"type": ["string", "null"], "format": "uuid"})
    ] = None


class FlagDraft(NewFlag, Update):
    """A flag that might be saved, with all of its rules. It stands in for the saved flag with the same key."""

    read_only: ClassVar[frozenset[str]] = flags_routes.FlagUpdate.read_only

    rules: Annotated[
        list[RuleDraft],
        WrapValidator(_leave_rules),
        at_most(MAX_RULES),
        Field(json_schema_extra={"maxItems": MAX_RULES}),
    ] = Field(default=[])


def read_draft(given: FlagDraft) -> Draft:
    """The draft in a request's body.

    Raises:
        RequestValidationError: for the first rule that is invalid.
        Error: INVALID for a flag that is too large to be saved.
    """
    values = given.model_dump(exclude={"rules"})
    if len(encode_json(values)) > TEXT_BODY:
        raise invalid_field("flag", "is larger without its rules than a flag that can be saved")
    values = flags_routes.read_values(values)
    drafted = []
    for place, rule in enumerate(given.rules):
        drafted.append(_read_rule(place, rule))
    return Draft(values, drafted)


def _read_rule(place: int, given: object) -> DraftRule:
    try:
        rule = RuleDraft.model_validate(given)
    except ValidationError as error:
        start = ("body", "flag", "rules", place)
        raise RequestValidationError([{**each, "loc": (*start, *each["loc"])} for each in error.errors()]) from None
    values = rules_routes.read_values(rule.given())
    return DraftRule(values.pop("id"), values)
