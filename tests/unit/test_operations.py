from collections.abc import Callable
from typing import Any

import pytest
from fastapi import APIRouter
from fastapi.routing import APIRoute
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from starlette.routing import Match

from flagstaff.api.operations import asks, list_operations, reads, writes
from flagstaff.assembly.app import create_api
from flagstaff.http.operations import SMALL_BODY, Caller, Endpoint, Operation, Operations
from flagstaff.projects.permissions import Permission
from flagstaff.serving.evaluate import ENDPOINT as EVALUATE
from flagstaff.serving.ofrep.errors import ENDPOINT as OFREP


class Body(BaseModel):
    name: str


def operation(**facts: Any) -> Operation:
    return Operation(**{"caller": Caller.TOKEN, "accepts_access_tokens": True, "reads": True, **facts})


@pytest.mark.parametrize(
    ("method", "state", "has_body"),
    [
        ("GET", lambda endpoint: endpoint, False),
        ("GET", writes(Caller.TOKEN, reports_revision=False), False),
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


@settings(max_examples=1000)
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
