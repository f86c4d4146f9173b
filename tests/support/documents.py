"""Requests that schemathesis creates from an OpenAPI document, for one operation at a time.

Its own `parametrize` creates the requests of all operations during collection, in every process of a run. Here, the
test of an operation creates them.
"""

from collections.abc import Callable
from typing import Any

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.pytest.lazy import get_all_tests
from schemathesis.schemas import BaseSchema


def operation_ids(document: dict[str, Any]) -> list[str]:
    """Return the operations of a document, by their ids."""
    return [operation["operationId"] for path in document["paths"].values() for operation in path.values()]


def load(document: dict[str, Any]) -> BaseSchema:
    """The document, for `try_operation`."""
    schema = schemathesis.openapi.from_dict(document)
    schema.config.generation.allow_x00 = False  # always refused; patterns would only obscure it
    return schema


def try_operation(
    schema: BaseSchema, operation_id: str, send: Callable[[schemathesis.Case], None], *, examples: int
) -> None:
    """Send examples and boundary cases that the document allows and forbids, and `examples` random ones."""

    def send_case(case: schemathesis.Case) -> None:
        send(case)

    chosen = settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    of_operation = schema.include(operation_id=operation_id)
    (made,) = get_all_tests(schema=of_operation, test_func=send_case, settings=chosen, given_kwargs=None)
    _, send_all = made.ok()  # an error in the document raises
    send_all()
