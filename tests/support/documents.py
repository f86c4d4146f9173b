"""Requests that schemathesis creates from an OpenAPI document, for one operation at a time.

Its own `parametrize` creates the requests of all operations during collection, in every process of a run. Here, the
test of an operation creates them.
"""

import math
from collections.abc import Callable
from typing import Any

import requests
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.config import CoveragePhaseConfig
from schemathesis.core.parameters import ParameterLocation
from schemathesis.core.result import Ok
from schemathesis.generation.meta import CoveragePhaseData, CoverageScenario
from schemathesis.pytest.lazy import get_all_tests
from schemathesis.schemas import BaseSchema

from tests.support.examples import are_many


def operation_ids(document: dict[str, Any]) -> list[str]:
    """Return the operations of a document, by their ids."""
    return [operation["operationId"] for path in document["paths"].values() for operation in path.values()]


def load(document: dict[str, Any]) -> BaseSchema:
    """The document, for `try_operation`."""
    schema = schemathesis.openapi.from_dict(document)
    schema.config.generation.allow_x00 = False  # always refused; patterns would only obscure it
    return schema


def encoded_headers(request: requests.PreparedRequest) -> list[tuple[bytes, bytes]]:
    """Return the headers of a request as HTTPX sends them."""
    pairs = ((name, value) for name, value in request.headers.items())
    return [(_encoded(name), _encoded(value)) for name, value in pairs]


def _encoded(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("latin-1")


def try_operation(
    schema: BaseSchema, operation_id: str, send: Callable[[schemathesis.Case[Any]], None], *, examples: int
) -> None:
    """Send examples and boundary cases that the document allows and forbids, and `examples` random ones.

    Two kinds of cases are sent once, because the others would check the same again: methods that a path does not have,
    with its first operation, and a value of another type than an id's, because in a path each value is text.

    Unless the run tries many examples, it sends a boundary of each kind once for each place, such as a text in the body
    that is too long, and a quarter of the random cases.
    """
    tried: set[object] = set()
    kind_of = _id_of_another_type if are_many() else _boundary

    def send_case(case: schemathesis.Case[Any]) -> None:
        kind = kind_of(case)
        if kind in tried:
            return
        if kind is not None:
            tried.add(kind)
        send(case)

    chosen = settings(
        max_examples=examples if are_many() else math.ceil(examples / 4),
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    of_operation = schema.include(operation_id=operation_id)
    firsts = {next(iter(path.values()))["operationId"] for path in schema.raw_schema["paths"].values()}
    # The configuration is that of all operations, so each test sets it.
    unexpected = CoveragePhaseConfig().unexpected_methods if operation_id in firsts else set()
    schema.config.phases.coverage.unexpected_methods = unexpected
    (made,) = get_all_tests(schema=of_operation, test_func=send_case, settings=chosen, given_kwargs=None)
    assert isinstance(made, Ok), made.err()
    _, send_all = made.ok()
    send_all()


def _boundary(case: schemathesis.Case[Any]) -> tuple[CoverageScenario, ParameterLocation | None] | None:
    """Return the kind and the place of the boundary that a case is at, if it is at one."""
    what = case.meta.phase.data if case.meta else None
    return (what.scenario, what.parameter_location) if isinstance(what, CoveragePhaseData) else None


def _id_of_another_type(case: schemathesis.Case[Any]) -> str | None:
    """Return the name of the id in the path that a case gives a value of another type, if it does."""
    what = case.meta.phase.data if case.meta else None
    if not isinstance(what, CoveragePhaseData) or what.parameter_location is not ParameterLocation.PATH:
        return None
    return what.parameter if what.scenario is CoverageScenario.INCORRECT_TYPE else None
