"""The services that operations name."""

from inspect import getclosurevars

from fastapi.routing import APIRoute

from flagstaff.assembly.api import create_api
from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.http import services


async def test_every_service_that_an_operation_names_can_be_made(flagstaff: Flagstaff) -> None:
    routes = (route for route in create_api().routes if isinstance(route, APIRoute))
    calls = {each.call for route in routes for each in route.dependant.dependencies if each.call}
    named = [call for call in calls if call.__module__ == services.__name__]
    offered = flagstaff.foundation.offered()
    assert len(named) > 40
    for call in named:
        kind = getclosurevars(call).nonlocals["kind"]
        assert isinstance(offered[kind], kind)
