"""Steps of releases: what they change, and when. A response has the changes of a step as its request had them."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator
from pydantic.config import JsonDict

from flagstaff.api.ids import GivenId
from flagstaff.api.schemas import CASES, Body, GivenMoment, at_most, optional
from flagstaff.flags.flags_routes import NewFlag
from flagstaff.flags.targeting.rules_routes import NewRule
from flagstaff.releases.plans import AFTER_SECONDS_MAX, LEAST_USERS_MAX, NAMED_RULES, RULES_MAX, Step

_NEW_RULE = {"rule_value": None, "priority": 0, "enabled": True}
_RULE_EDITS: JsonDict = {
    "RuleChange": {
        "description": "A change of the rule with this id. Only the given fields change.",
        "required": ["id"],
        "without": ["delete"],
        "minProperties": 2,
    },
    "RuleDeletion": {
        "description": "The deletion of the rule with this id.",
        "required": ["id", "delete"],
        "only": ["id", "delete"],
    },
    "NewRule": {},
}
_TIMES: JsonDict = {
    "StepAt": {
        "description": "A step that is applied at a time.",
        "required": ["at"],
        "without": ["after_seconds"],
    },
    "StepAfter": {
        "description": "A step that is applied some time after the previous step, or the first one after the creation.",
        "required": ["after_seconds"],
        "without": ["at"],
    },
}


class _NamedRule(Body):
    """The rule that is changed or deleted."""

    id: GivenId = optional()
    delete: Literal[True] = optional()


class RuleEdit(_NamedRule, like=NewRule, json_schema_extra={CASES: _RULE_EDITS}):
    """A change of a rule: with an `id` of this rule, which `delete` deletes; without, a new rule."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        given = self.model_fields_set
        if "id" not in given and "rule_type" not in given:
            raise ValueError("must have the id of a rule, or for a new one its rule_type")
        if "delete" in given and given != {"id", "delete"}:
            raise ValueError("must have an id and nothing else to delete a rule")
        if not given - {"id"}:
            raise ValueError("must change something")
        return self

    def given(self) -> dict[str, Any]:
        """The fields that are changed; of a new rule also those that have a default and are needed."""
        return _given(self) if "id" in self.model_fields_set else {**_NEW_RULE, **_given(self)}


class Changes(Body, like=NewFlag, without=("key",), json_schema_extra={"minProperties": 1}):
    """Fields of the flag to change, and rules."""

    rules: Annotated[list[RuleEdit], at_most(RULES_MAX), Field(json_schema_extra={"maxItems": RULES_MAX})] = optional()

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("must change something")
        return self

    def given(self) -> dict[str, Any]:
        """The changes in the form in which they are kept: the audit trail's form, with the defaults inside."""
        rules = {NAMED_RULES: [each.given() for each in self.rules]} if NAMED_RULES in self.model_fields_set else {}
        return _given(self) | rules


def _given(body: Body) -> dict[str, Any]:
    """The fields of a body that were given, as JSON."""
    return body.model_dump(mode="json", include=body.model_fields_set - {NAMED_RULES})


class StepBody(Body, json_schema_extra={CASES: _TIMES}):
    """A step: what it changes, and when."""

    at: GivenMoment = optional()
    after_seconds: Annotated[int, Field(ge=0, le=AFTER_SECONDS_MAX)] = optional()
    changes: Changes
    least_users: Annotated[int, Field(ge=1, le=LEAST_USERS_MAX)] = Field(
        default_factory=int,
        description="The step also waits until the previous step has exposed this number of users, also those who were "
        "in an earlier step.",
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if len({"at", "after_seconds"} & self.model_fields_set) != 1:
            raise ValueError("must have either at or after_seconds")
        return self

    def read(self) -> Step:
        """The step as the domain has it."""
        given = self.model_fields_set
        return Step(
            self.changes.given(),
            self.at if "at" in given else None,
            self.after_seconds if "after_seconds" in given else None,
            self.least_users if "least_users" in given else None,
        )
