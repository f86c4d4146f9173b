"""Routers whose routes take less memory.

They share dependencies and parameters of paths, and only describe responses by models.
"""

from collections.abc import Callable, Hashable, Iterable
from inspect import signature
from typing import Any

from fastapi import APIRouter
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from fastapi.utils import create_model_field
from starlette.routing import BaseRoute

from flagstaff.api.operation_routes import OperationRoute

_shared: dict[Hashable, Dependant] = {}
_path_parameters: dict[Hashable, tuple[Any, Any]] = {}


class Router(APIRouter):
    """The framework's router without what it makes for each route and nobody needs.

    It would make a validator of each model of a response, although responses are encoded without them, and make each
    dependency and each parameter of a path anew for each route, with their validators. Together, they take 4 MB.
    """

    def __init__(self, **given: Any) -> None:
        """`given` is as for the framework's."""
        super().__init__(route_class=OperationRoute, **given)

    def add_api_route(
        self, path: str, endpoint: Callable[..., Any], *, response_model: Any = None, **given: Any
    ) -> None:
        """Add a route; `given` is as for the framework's."""
        super().add_api_route(path, endpoint, response_model=None, **given)
        route = self.routes[-1]
        assert isinstance(route, APIRoute)
        route.response_model = response_model
        _share(route.dependant.dependencies)
        _share_path_parameters(route)


def _share(dependencies: list[Dependant]) -> None:
    """Replace dependencies by other routes' dependencies on the same function with parameters in the same places."""
    for index, each in enumerate(dependencies):
        _share(each.dependencies)
        places = (each.path_params, each.query_params, each.header_params, each.cookie_params, each.body_params)
        names = tuple(tuple(field.name for field in place) for place in places)
        made_of = (*names, *map(id, each.dependencies))
        key = (each.call, each.name, each.use_cache, each.scope, made_of)
        dependencies[index] = _shared.setdefault(key, each)


def _share_path_parameters(route: APIRoute) -> None:
    """Replace parameters by other routes' parameters with the same name and annotation, such as `Id`.

    Many annotations cannot be hashed, so each is identified by its address, and kept, so that no other gets that.
    """
    written = signature(route.endpoint).parameters
    parameters = route.dependant.path_params
    for index, each in enumerate(parameters):
        annotation = written[each.name].annotation
        _, parameters[index] = _path_parameters.setdefault((each.name, id(annotation)), (annotation, each))


def complete(routes: Iterable[BaseRoute]) -> None:
    """Make of the models of responses what the framework describes them by."""
    for route in routes:
        if isinstance(route, APIRoute) and route.response_model and route.response_field is None:
            name = f"Response_{route.unique_id}"
            route.response_field = create_model_field(name, route.response_model, mode="serialization")
