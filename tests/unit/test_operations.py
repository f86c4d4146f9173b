from collections.abc import Callable
from typing import Annotated, Any

import pytest
from fastapi import APIRouter, Depends, Header, Query
from pydantic import BaseModel, ConfigDict

from flagstaff.api.entity_tags import IF_MATCH
from flagstaff.api.operations import asks, reads, writes
from flagstaff.api.routers import Router
from flagstaff.assembly.api import create_api
from flagstaff.http.operations import OPERATION, SMALL_BODY, Caller, Operation, only_reads, operation_of
from flagstaff.permissions.permissions import Permission
from flagstaff.serving.evaluate import ENDPOINT as EVALUATE
from flagstaff.serving.ofrep.errors import ENDPOINT as OFREP
from tests.support.operations import list_operations


class Body(BaseModel):
    name: str


def operation(**facts: Any) -> Operation:
    return Operation(**{"caller": Caller.TOKEN, "accepts_access_tokens": True, "reads": True, **facts})


@pytest.mark.parametrize(
    ("method", "state", "has_body"),
    [
        ("GET", lambda endpoint: endpoint, False),
        ("GET", writes(Caller.TOKEN, reports_revision=False), False),
        ("GET", asks(Caller.TOKEN, body_max_bytes=SMALL_BODY), False),
        ("PUT", reads(Caller.TOKEN), False),
        ("PUT", writes(Caller.TOKEN, reports_revision=False), True),
        ("PUT", writes(Caller.TOKEN, body_max_bytes=SMALL_BODY, reports_revision=False), False),
        ("PUT", writes(Caller.TOKEN, reports_revision=False, repeatable=True), False),
        ("PUT", asks(Caller.TOKEN, body_max_bytes=SMALL_BODY), True),
        ("POST", writes(Caller.TOKEN, reports_revision=False), False),
        ("POST", asks(Caller.TOKEN, body_max_bytes=SMALL_BODY), False),
    ],
)
def test_a_route_that_lacks_a_fact_does_not_start(method: str, state: Callable[[Any], Any], *, has_body: bool) -> None:
    async def without_body() -> None: ...

    async def with_body(body: Body) -> None: ...

    stated = state(with_body if has_body else without_body)
    with pytest.raises(LookupError, match="does not state the facts"):
        Router().add_api_route("/there", stated, methods=[method])


def test_every_route_states_its_facts() -> None:
    assert len(list(list_operations(create_api().routes))) > 130


@pytest.mark.parametrize(
    ("method", "found", "reads"),
    [
        ("POST", operation(), True),
        ("GET", operation(reads=False), False),
        ("GET", None, True),
        ("HEAD", None, True),
        ("POST", None, False),
    ],
)
def test_a_request_only_reads_if_its_operation_does_or_without_one_its_method(
    method: str, found: Operation | None, *, reads: bool
) -> None:
    assert only_reads({"method": method, "state": {OPERATION: found}}) is reads


def test_a_request_that_nobody_has_looked_at_is_for_no_operation() -> None:
    assert operation_of({"type": "http"}) is None


def facts(state: Callable[[Any], Any]) -> tuple[object, ...]:
    """Return what a decorator states: tokens, reading, the body's bound, length, revision, repetition and a body."""

    async def route() -> None: ...

    stated: Operation = state(route).__operation__.operation
    return (
        stated.accepts_access_tokens,
        stated.reads,
        stated.body_max_bytes,
        stated.takes_long,
        stated.reports_revision,
        stated.is_repeatable,
        stated.takes_body,
    )


def test_a_route_states_what_it_says_and_by_default_the_least() -> None:
    small, needed = SMALL_BODY, Permission.FLAGS_READ
    assert facts(reads(needed)) == (True, True, small, False, False, False, False)
    assert facts(reads(Caller.PERSON)) == (False, True, small, False, False, False, False)
    assert facts(reads(Caller.PERSON, accepts_access_tokens=True, takes_long=True))[:4] == (True, True, small, True)
    assert facts(asks(needed, body_max_bytes=7)) == (True, True, 7, True, False, False, True)
    assert facts(asks(Caller.PERSON, body_max_bytes=7))[0] is False
    assert facts(writes(needed, reports_revision=True)) == (True, False, small, False, True, False, False)
    changed = writes(Caller.PERSON, body_max_bytes=7, reports_revision=False, repeatable=True)
    assert facts(changed) == (False, False, 7, False, False, True, True)


def test_an_operation_takes_a_tag_if_it_or_what_it_depends_on_reads_if_match() -> None:
    async def read_tag(if_match: Annotated[str, Header(alias=IF_MATCH)] = "") -> None: ...

    async def itself(if_match: Annotated[str, Header(alias=IF_MATCH)] = "") -> None: ...

    async def indirectly(tag: Annotated[None, Depends(read_tag)]) -> None: ...

    async def neither(if_none_match: Annotated[str, Header(alias="If-None-Match")] = "") -> None: ...

    router = APIRouter()
    for endpoint in (itself, indirectly, neither):
        router.get(f"/{endpoint.__name__}")(reads(Caller.TOKEN)(endpoint))
    taking = {path: each.takes_tag for _, path, each in list_operations(router.routes)}
    assert taking == {"/itself": True, "/indirectly": True, "/neither": False}


def test_headers_and_dependencies_without_the_tag_neither_add_nor_remove_it() -> None:
    async def read_tag(
        if_match: Annotated[str, Header(alias=IF_MATCH)] = "", prefer: Annotated[str, Header()] = ""
    ) -> None: ...

    async def read_nothing() -> None: ...

    async def among_others(
        tag: Annotated[None, Depends(read_tag)], no: Annotated[None, Depends(read_nothing)]
    ) -> None: ...

    async def without_any(no: Annotated[None, Depends(read_nothing)]) -> None: ...

    router = APIRouter()
    for endpoint in (among_others, without_any):
        router.get(f"/{endpoint.__name__}")(reads(Caller.TOKEN)(endpoint))
    taking = {path: each.takes_tag for _, path, each in list_operations(router.routes)}
    assert taking == {"/among_others": True, "/without_any": False}


class Part(BaseModel):
    limit: int = 1


class StrictPart(Part):
    model_config = ConfigDict(extra="forbid")


def test_a_route_whose_query_ignores_unknown_parameters_does_not_start() -> None:
    async def list_some(part: Annotated[Part, Query()]) -> None: ...

    router = APIRouter()
    router.get("/some")(reads(Caller.TOKEN)(list_some))
    with pytest.raises(LookupError, match="does not refuse unknown parameters"):
        list(list_operations(router.routes))


def test_the_parameters_of_a_query_are_those_of_the_route_unless_a_model_has_them() -> None:
    async def none() -> None: ...

    async def two(first: bool = False, second: Annotated[str, Query(alias="from")] = "") -> None: ...

    async def model(part: Annotated[StrictPart, Query()]) -> None: ...

    router = APIRouter()
    for endpoint in (none, two, model):
        router.get(f"/{endpoint.__name__}")(reads(Caller.TOKEN)(endpoint))
    found = {path: each.parameters for _, path, each in list_operations(router.routes)}
    assert found == {"/none": (), "/two": ("first", "from"), "/model": None}


@pytest.mark.parametrize("path", ["/sdk/v1/evaluate/", "/sdk/v1/evaluate/a/b", "/sdk/v1/evaluated", "/sdk/v1"])
def test_an_endpoint_has_no_template_for_paths_that_it_does_not_answer(path: str) -> None:
    assert EVALUATE.find_template(path) is None
    assert not EVALUATE.evaluates(path)


def test_an_endpoint_tells_evaluations_from_its_other_paths() -> None:
    assert EVALUATE.find_template("/sdk/v1/evaluate/new-checkout") == "/sdk/v1/evaluate/{flag_key}"
    assert EVALUATE.evaluates("/sdk/v1/evaluate")
    assert OFREP.find_template("/ofrep/v1/streams") == "/ofrep/v1/streams"
    assert not OFREP.evaluates("/ofrep/v1/streams")


def test_the_permissions_of_an_operation_are_stated_with_its_place() -> None:
    @writes(Permission.FLAGS_WRITE, Permission.RULES_WRITE, place="environment", reports_revision=True)
    async def change() -> None: ...

    statement = change.__operation__  # type: ignore[attr-defined]
    assert (statement.permissions, statement.place) == (
        (Permission.FLAGS_WRITE, Permission.RULES_WRITE),
        "environment",
    )


def test_an_operation_that_only_needs_a_caller_states_no_permission() -> None:
    @reads(Caller.PERSON)
    async def read() -> None: ...

    assert read.__operation__.permissions == ()  # type: ignore[attr-defined]
