"""Drafts of flags in requests: a flag and all of its rules as they might be saved."""

from typing import Annotated, Any, ClassVar
from uuid import UUID

from pydantic import FailFast, Field, PlainValidator, WithJsonSchema

from flagstaff.services.drafts import Draft, DraftRule
from flagstaff.web.management import flags, rules
from flagstaff.web.management.flags import NewFlag
from flagstaff.web.management.ids import parse_id
from flagstaff.web.management.rules import NewRule
from flagstaff.web.management.schemas import Update, at_most

MAX_RULES = 1000


def _read_id(given: Any) -> UUID | None:
    found = parse_id(given) if isinstance(given, str) else None
    if found is None and given is not None:
        raise ValueError("must be a UUID, or null for a new rule")
    return found


class RuleDraft(NewRule, Update):
    """A rule that might be saved. One with an `id` stands in for that rule of the saved flag."""

    read_only: ClassVar[frozenset[str]] = frozenset({"flag_id", "created_at", "updated_at"})

    id: Annotated[
        UUID | None, PlainValidator(_read_id), WithJsonSchema({"type": ["string", "null"], "format": "uuid"})
    ] = None


class FlagDraft(NewFlag, Update):
    """A flag that might be saved, with all of its rules. It stands in for the saved flag with the same key."""

    read_only: ClassVar[frozenset[str]] = flags.FlagUpdate.read_only

    rules: Annotated[
        list[RuleDraft],
        FailFast(),
        at_most(MAX_RULES),
        Field(json_schema_extra={"maxItems": MAX_RULES}),
    ] = Field(default=[])


def read_draft(given: FlagDraft) -> Draft:
    """The draft in a request's body."""
    values = given.model_dump(exclude={"rules"})
    return Draft(
        flags.read_values(values),
        [DraftRule(rule.id, rules.read_values(rule.model_dump(exclude={"id"}))) for rule in given.rules],
    )
