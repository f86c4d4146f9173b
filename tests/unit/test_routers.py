"""Routes share what they have in common, and nothing else."""

from typing import Annotated, Any

from fastapi import Path
from fastapi.routing import APIRoute

from flagstaff.api.operations import reads
from flagstaff.api.routers import Router
from flagstaff.http.operations import Caller

Key = Annotated[str, Path(max_length=5)]


def path_parameters(router: Router) -> list[Any]:
    """Return the parameters of the paths of all routes."""
    return [each for route in router.routes if isinstance(route, APIRoute) for each in route.dependant.path_params]


def test_routes_share_a_parameter_of_the_same_name_and_annotation() -> None:
    router = Router()

    @router.get("/flags/{key}")
    @reads(Caller.ANYONE)
    def get_flag(key: Key) -> None: ...

    @router.get("/rules/{key}")
    @reads(Caller.ANYONE)
    def get_rule(key: Key) -> None: ...

    flag, rule = path_parameters(router)
    assert flag is rule


def test_routes_do_not_share_a_parameter_of_another_name_or_annotation() -> None:
    router = Router()

    @router.get("/flags/{key}")
    @reads(Caller.ANYONE)
    def get_flag(key: Key) -> None: ...

    @router.get("/rules/{name}")
    @reads(Caller.ANYONE)
    def get_rule(name: Key) -> None: ...

    @router.get("/segments/{key}")
    @reads(Caller.ANYONE)
    def get_segment(key: Annotated[str, Path(max_length=3)]) -> None: ...

    assert [each.name for each in path_parameters(router)] == ["key", "name", "key"]
    errors = [each.validate("abcd", {}, loc=("path",))[1] for each in path_parameters(router)]
    assert [bool(each) for each in errors] == [False, False, True]
