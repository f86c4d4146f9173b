"""Variants and prerequisites of flags in requests and responses."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Annotated, Any, Self

import msgspec
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema, model_validator

from flagstaff.api.schemas import FlagKey, at_most
from flagstaff.flags.field_schemas import VariantKey
from flagstaff.flags.prerequisites import MAX_PREREQUISITES, Prerequisite, check_prerequisite, check_prerequisites
from flagstaff.flags.variants import (
    MAX_VARIANTS,
    WEIGHT_MAX,
    Variant,
    check_value,
    check_variants,
    check_weight,
    encode_value,
)

Weight = Annotated[int, AfterValidator(check_weight), Field(json_schema_extra={"minimum": 0, "maximum": WEIGHT_MAX})]
Value = Annotated[
    Any,
    AfterValidator(check_value),
    WithJsonSchema({"type": ["string", "number", "boolean", "object"], "additionalProperties": True}),
]


class VariantBody(BaseModel):
    """A variant of a flag."""

    model_config = ConfigDict(strict=True, extra="forbid")

    key: VariantKey
    weight: Annotated[Weight, Field(description="Its share of the sum of all weights.")]
    value: Annotated[Value, Field(description="Of the same type for all variants.")]


class PrerequisiteBody(BaseModel):
    """Another flag of the environment that must be on, or off, or on with one of some variants."""

    model_config = ConfigDict(strict=True, extra="forbid")

    flag_key: FlagKey
    enabled: bool = True
    variants: Annotated[
        list[VariantKey], at_most(MAX_VARIANTS), Field(json_schema_extra={"maxItems": MAX_VARIANTS})
    ] = Field(default=[])

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_prerequisite(Prerequisite(self.flag_key, self.enabled, tuple(self.variants)))
        return self


def read_variants(given: Iterable[Mapping[str, Any]]) -> tuple[Variant, ...]:
    """The variants of a request's body."""
    return tuple(Variant(each["key"], each["weight"], encode_value(each["value"])) for each in given)


def read_prerequisites(given: Iterable[Mapping[str, Any]]) -> tuple[Prerequisite, ...]:
    """The prerequisites of a request's body."""
    return tuple(
        Prerequisite(each["flag_key"], each.get("enabled", True), tuple(each.get("variants", ()))) for each in given
    )


def _check_variants(given: list[VariantBody]) -> list[VariantBody]:
    check_variants(read_variants([each.model_dump() for each in given]))
    return given


def _check_prerequisites(given: list[PrerequisiteBody]) -> list[PrerequisiteBody]:
    check_prerequisites(read_prerequisites([each.model_dump() for each in given]))
    return given


Variants = Annotated[
    list[VariantBody],
    at_most(MAX_VARIANTS),
    AfterValidator(_check_variants),
    Field(json_schema_extra={"maxItems": MAX_VARIANTS}),
]
Prerequisites = Annotated[
    list[PrerequisiteBody],
    at_most(MAX_PREREQUISITES),
    AfterValidator(_check_prerequisites),
    Field(json_schema_extra={"maxItems": MAX_PREREQUISITES}),
]


def view_variants(found: Iterable[Variant]) -> list[dict[str, Any]]:
    """Variants as they are shown."""
    return [{"key": each.key, "weight": each.weight, "value": msgspec.Raw(each.value.encode())} for each in found]


def view_prerequisites(found: Iterable[Prerequisite]) -> list[dict[str, Any]]:
    """Prerequisites as they are shown."""
    return [asdict(each) for each in found]
