"""Types of fields of flags and their rules."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from flagstaff.api.schemas import at_most
from flagstaff.flags import flags, variants
from flagstaff.values import text

RolloutPercentage = Annotated[
    int,
    AfterValidator(flags.check_rollout_percentage),
    Field(
        json_schema_extra={"minimum": 0, "maximum": 100},
        description="The share of users, in percent, for whom a flag that is on is on if no rule matches. **0 means "
        "everyone**, as 100 does: there is no rollout. To turn the flag off for everyone, set `enabled` to false. To "
        "turn it on only for users whom a rule matches, set `fallthrough` to `off`; then the percentage has no effect.",
    ),
]
Priority = Annotated[
    int,
    AfterValidator(flags.check_priority),
    Field(json_schema_extra={"minimum": flags.PRIORITY_MIN, "maximum": flags.PRIORITY_MAX}),
]
FallthroughName = Annotated[
    Literal["rollout", "off"],
    Field(
        description="What decides if no rule matches: with `rollout`, the `rollout_percentage`, of which 0 means "
        "everyone; with `off`, the flag is off, so that it is on only for users whom a rule matches."
    ),
]
BucketingKey = Annotated[
    str,
    AfterValidator(flags.check_bucketing_key),
    Field(json_schema_extra={"minLength": 1, "maxLength": text.NAME_MAX_LENGTH, "pattern": r"\S"}),
]
Stickiness = Annotated[
    str,
    AfterValidator(flags.check_stickiness),
    Field(json_schema_extra={"minLength": 1, "maxLength": flags.ATTRIBUTE_MAX_LENGTH, "pattern": r"\S"}),
]


def _check_tags(given: list[str]) -> list[str]:
    flags.check_tags(given)
    return given


Tag = Annotated[
    str,
    AfterValidator(flags.check_tag),
    Field(json_schema_extra={"minLength": 1, "maxLength": flags.TAG_MAX_LENGTH, "pattern": r"\S"}),
]
Tags = Annotated[
    list[Tag],
    at_most(flags.TAGS_MAX),
    AfterValidator(_check_tags),
    Field(json_schema_extra={"maxItems": flags.TAGS_MAX, "uniqueItems": True}),
]
VariantKey = Annotated[
    str,
    AfterValidator(variants.check_variant_key),
    Field(json_schema_extra={"minLength": 1, "maxLength": variants.KEY_MAX_LENGTH, "pattern": r"\S"}),
]
RuleTypeName = Literal["user_id", "user_email", "email_domain", "attributes", "segment"]
RuleValue = Annotated[
    str,
    AfterValidator(text.check_text),
    Field(json_schema_extra={"minLength": 1, "maxLength": flags.RULE_VALUE_MAX_LENGTH, "pattern": r"\S"}),
]
RulePercentage = Annotated[
    int,
    AfterValidator(flags.check_rule_percentage),
    Field(
        json_schema_extra={"minimum": 1, "maximum": 100},
        description="The share of the matching users, in percent, to whom the rule applies; for the others, the next "
        "rule is tried. Unlike a flag's, it cannot be 0: to switch a rule off, set its `enabled` to false.",
    ),
]
