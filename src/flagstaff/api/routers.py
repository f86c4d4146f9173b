"""Routers whose routes state the models of their responses for the API's description alone."""

from collections.abc import Callable, Iterable
from typing import Any

from fastapi import APIRouter
from fastapi.routing import APIRoute
from fastapi.utils import create_model_field
from starlette.routing import BaseRoute


class Router(APIRouter):
    """A router that makes nothing of the models of responses, which are encoded without them.

    The framework would make a validator of each, which takes 2 MB.
    """

    def add_api_route(
        self, path: str, endpoint: Callable[..., Any], *, response_model: Any = None, **given: Any
    ) -> None:
        """Add a route; `given` is as for the framework's."""
        super().add_api_route(path, endpoint, response_model=None, **given)
        route = self.routes[-1]
        assert isinstance(route, APIRoute)
        route.response_model = response_model


def complete(routes: Iterable[BaseRoute]) -> None:
    """Make of the models of responses what the framework describes them by."""
    for route in routes:
        if isinstance(route, APIRoute) and route.response_model and route.response_field is None:
            name = f"Response_{route.unique_id}"
            route.response_field = create_model_field(name, route.response_model, mode="serialization")
