"""Explains why the strict decoder refused an evaluate body: each invalid field and what it must be."""

from collections.abc import Iterator, Mapping

import msgspec

from flagstaff.http.fields import unknown_field
from flagstaff.serving.context import Types, context_mistakes, mistyped
from flagstaff.values.errors import FieldError

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
