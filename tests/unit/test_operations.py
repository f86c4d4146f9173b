from collections.abc import Callable
from typing import Annotated, Any

import pytest
from fastapi import APIRouter, Depends, Header, Query
from fastapi.routing import APIRoute
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict
from starlette.routing import Match

from flagstaff.api.entity_tags import IF_MATCH
from flagstaff.api.operations import asks, list_operations, reads, writes
from flagstaff.assembly.api import create_api
from flagstaff.http.operations import SMALL_BODY, Caller, Endpoint, Operation, Operations, only_reads, operation_of
from flagstaff.permissions.permissions import Permission
from flagstaff.serving.evaluate import ENDPOINT as EVALUATE
from flagstaff.serving.ofrep.errors import ENDPOINT as OFREP
from tests.support.examples import times_the_examples


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

    router = APIRouter()
    router.add_api_route("/there", state(with_body if has_body else without_body), methods=[method])
    with pytest.raises(LookupError, match="does not state the facts"):
        list(list_operations(router.routes))


def test_every_route_states_its_facts() -> None:
    assert len(list(list_operations(create_api().routes))) > 130


_api = create_api()
_listed = {(method, template): operation for method, template, operation in list_operations(_api.routes)}
_statements = Operations((*place, operation) for place, operation in _listed.items())
_templates = sorted({route.path_format for route in _api.routes if isinstance(route, APIRoute)})
_segments = sorted({segment for template in _templates for segment in template.split("/")})
_odd = st.sampled_from([*_segments, "\n", "x\n", "x", "%2F", " ", "..", "é", "{project_id}"])


@st.composite
def _paths(draw: st.DrawFn) -> str:
    segments = draw(st.sampled_from(_templates)).split("/")
    for place in draw(st.lists(st.integers(1, len(segments) - 1), max_size=3)):
        segments[place] = draw(_odd)
    return "/".join(segments) + draw(st.sampled_from(["", "", "\n", "/", "\n\n", "\r", "/x"]))


@times_the_examples(10)
@example("GET", "/api/projects/{project_id}/environments/{env_id}/evaluations/changes\n")
@given(st.sampled_from(["GET", "POST", "PUT", "DELETE"]), _paths())
def test_what_is_found_is_what_the_framework_finds(method: str, path: str) -> None:
    scope = {"type": "http", "method": method, "path": path, "root_path": ""}
    routes = [each for each in _api.routes if isinstance(each, APIRoute)]
    served = next((each for each in routes if each.matches(scope)[0] is Match.FULL), None)
    assert _statements.find(method, path) is (served and _listed[method, served.path_format])


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"),
        ("GET", "/a"),
        ("DELETE", "/a/1"),
        ("GET", "/a/"),
        ("GET", "/a/1/b/2"),
        ("GET", ""),
        ("GET", "/b/1"),
    ],
)
def test_nothing_is_found_where_there_is_no_operation(method: str, path: str) -> None:
    assert Operations([("GET", "/a/{id}", operation())]).find(method, path) is None


def test_a_named_segment_goes_before_a_parameter_but_does_not_hide_its_methods() -> None:
    order, one, change = operation(takes_long=True), operation(), operation(reads=False)
    operations = Operations([("GET", "/a/order", order), ("GET", "/a/{id}", one), ("PUT", "/a/{id}", change)])
    assert operations.find("GET", "/a/order") is order
    assert operations.find("HEAD", "/a/order") is order
    assert operations.find("GET", "/a/others") is one
    assert operations.find("PUT", "/a/order") is change


def test_the_bound_of_a_body_is_that_of_the_operation_or_of_the_protocol() -> None:
    large = operation(body_max_bytes=500_000)
    operations = Operations([("POST", "/a/{id}", large)], [Endpoint("/other/longer", 2), Endpoint("/other/", 1)])
    bounds = {"/a/1": 500_000, "/a": SMALL_BODY, "/other/longer/1": 2, "/other/1": 1}
    found = {path: operations.identify({"method": "POST", "path": path, "state": {}}) for path in bounds}
    assert found == bounds


@pytest.mark.parametrize(
    ("method", "path", "reads"),
    [("POST", "/a", True), ("GET", "/b", False), ("GET", "/c", True), ("HEAD", "/c", True), ("POST", "/c", False)],
)
def test_a_request_only_reads_if_its_operation_does_or_without_one_its_method(
    method: str, path: str, *, reads: bool
) -> None:
    listed = {"/a": operation(), "/b": operation(reads=False)}
    operations = Operations([("POST", "/a", listed["/a"]), ("GET", "/b", listed["/b"])])
    scope = {"method": method, "path": path, "state": {}}
    operations.identify(scope)
    assert operation_of(scope) is listed.get(path)
    assert only_reads(scope) is reads


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
