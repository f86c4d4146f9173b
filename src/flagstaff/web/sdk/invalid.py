"""Explains why the strict decoder refused an evaluate body: each invalid field and what it must be."""

from collections.abc import Iterator, Mapping

import msgspec

from flagstaff.domain.errors import FieldError
from flagstaff.web.context import Types, context_mistakes, mistyped
from flagstaff.web.edge.fields import unknown_field

_ENVIRONMENT: Types = {"environment": (b'"', "a string")}
_KNOWN = (*_ENVIRONMENT, "context")


def evaluate_mistakes(document: Mapping[str, msgspec.Raw]) -> Iterator[FieldError]:
    """The invalid fields of an evaluate body."""
    if "environment" not in document:
        yield FieldError("environment", "is required")
    yield from mistyped(document, _ENVIRONMENT)
    yield from context_mistakes(document)
    for name in document:
        if name not in _KNOWN:
            yield FieldError(name, unknown_field(name, _KNOWN))
