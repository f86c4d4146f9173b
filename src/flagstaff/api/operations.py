"""Decorators with which a route states the facts of its operation. Each route needs one, below the router's decorator.

    @router.post(_FLAG + "/toggle", response_model=FlagOut, responses=problems(401, 404, 409, 503))
    @writes(Permission.FLAGS_TOGGLE, reports_revision=True, repeatable=True)
    async def toggle_flag(...) -> Response:

Its route checks them for each request (`api/operation_routes.py`), and the API's description has them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar, get_origin

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import BaseModel

from flagstaff.api.entity_tags import IF_MATCH
from flagstaff.concurrency.claims import Priority
from flagstaff.http.operations import READING, SMALL_BODY, Caller, Operation
from flagstaff.permissions.permissions import Permission

Place = Literal["project", "environment", "any environment"]
Needs = Permission | Caller
F = TypeVar("F", bound=Callable[..., Any])
_ATTRIBUTE = "__operation__"
_READ_BY: Mapping[Permission, Permission] = {
    Permission.PROJECT_WRITE: Permission.PROJECT_READ,
    Permission.ENVIRONMENTS_WRITE: Permission.PROJECT_READ,
    Permission.SEGMENTS_WRITE: Permission.PROJECT_READ,
    Permission.FLAGS_WRITE: Permission.FLAGS_READ,
    Permission.FLAGS_TOGGLE: Permission.FLAGS_READ,
    Permission.RULES_WRITE: Permission.FLAGS_READ,
    Permission.COMMENTS_WRITE: Permission.FLAGS_READ,
    Permission.KEYS_ROTATE: Permission.KEYS_READ,
    Permission.WEBHOOKS_WRITE: Permission.WEBHOOKS_READ,
    Permission.MEMBERS_WRITE: Permission.MEMBERS_READ,
    Permission.TOKENS_WRITE: Permission.TOKENS_READ,
}
"""The permission to read what may be written with another one."""


@dataclass(frozen=True, slots=True)
class Statement:
    """The facts that a route states of its operation.

    `permissions` are those that its service requires, all in one place: the whole project, the environments that the
    request is about, or any environment. None means that the path tells.
    """

    operation: Operation
    permissions: Sequence[Permission]
    place: Place | None
    repeatable: bool | None


def reads(
    needs: Needs,
    *also: Permission,
    place: Place | None = None,
    takes_long: bool = False,
    accepts_access_tokens: bool = False,
    lenient: bool = False,
) -> Callable[[F], F]:
    """State the facts of a GET. It takes long if it decides or compares many flags."""
    caller = _caller(needs)
    accepts = accepts_access_tokens or caller is Caller.TOKEN
    operation = Operation(
        caller=caller,
        accepts_access_tokens=accepts,
        reads=True,
        takes_long=takes_long,
        lenient=lenient,
        priority=Priority.LONG if takes_long else Priority.SHORT,
    )
    return _state(needs, also, place, operation)


def asks(needs: Needs, *also: Permission, place: Place | None = None, body_max_bytes: int) -> Callable[[F], F]:
    """State the facts of a POST that changes nothing. It is one because its body describes what might be."""
    caller = _caller(needs)
    operation = Operation(
        caller=caller,
        accepts_access_tokens=caller is Caller.TOKEN,
        reads=True,
        takes_long=True,
        takes_body=True,
        body_max_bytes=body_max_bytes,
        priority=Priority.LONG,
    )
    return _state(needs, also, place, operation)


def writes(  # noqa: PLR0913 -- each is a fact that stands by its name in a decorator
    needs: Needs,
    *also: Permission,
    place: Place | None = None,
    body_max_bytes: int | None = None,
    reports_revision: bool,
    repeatable: bool | None = None,
    only_people: bool = False,
    lenient: bool = False,
    shown_with: Sequence[Permission] | None = None,
    tells: tuple[str, ...] = (),
    priority: Priority | Callable[[bytes], Priority] = Priority.SHORT,
) -> Callable[[F], F]:
    """State the facts of an operation that changes something.

    Its `priority` is its class in turns at the database; where the body decides, a function tells it.

    One that is for `only_people` is about a person in a project, whatever permissions an access token has.

    `body_max_bytes` is needed if it has a body, and `repeatable` of a POST: whether `Idempotency-Key` is accepted. A
    response with a secret of which only a hash is stored cannot be repeated.

    An access token is shown what it has written only if it has the permissions `shown_with`, without which it gets only
    ids and keys (`api/shown.py`), and the fields that `tells` what was done. By default `shown_with` is what it takes
    to read what `needs` and `also` write.
    """
    caller = _caller(needs)
    operation = Operation(
        caller=caller,
        accepts_access_tokens=caller is Caller.TOKEN and not only_people,
        reads=False,
        takes_body=body_max_bytes is not None,
        body_max_bytes=body_max_bytes or SMALL_BODY,
        reports_revision=reports_revision,
        is_repeatable=bool(repeatable),
        lenient=lenient,
        shown_with=frozenset(_find_shown_with(needs, also) if shown_with is None else shown_with),
        tells=tells,
        priority=priority,
    )
    return _state(needs, also, place, operation, repeatable=repeatable)


def statement_of(route: APIRoute) -> Statement:
    """Return the facts that a route states.

    Raises:
        LookupError: if it states nothing, or not what operations of its method state.
    """
    statement: Statement | None = getattr(route.endpoint, _ATTRIBUTE, None)
    name = f"{route.endpoint.__module__}.{route.name}"
    if statement is None:
        raise LookupError(f"{name} does not state the facts of its operation")
    method = next(iter(route.methods or ()))
    operation = statement.operation
    if method in READING:
        fits = operation.reads and not operation.takes_body
    else:
        fits = method == "POST" if operation.reads else (statement.repeatable is not None) == (method == "POST")
        fits = fits and operation.takes_body == (route.body_field is not None)
    if not fits:
        raise LookupError(f"{name} does not state the facts of a {method}")
    return statement


def facts_of(route: APIRoute) -> Operation:
    """The facts of a route's operation, with those that its parameters tell; raises LookupError like `statement_of`."""
    return replace(
        statement_of(route).operation,
        takes_tag=_takes_tag(route.dependant),
        parameters=_find_parameters(route),
        lists=_find_lists(route),
    )


def _takes_tag(dependant: Dependant) -> bool:
    has_header = any(each.alias == IF_MATCH for each in dependant.header_params)
    return has_header or any(map(_takes_tag, dependant.dependencies))


def _find_parameters(route: APIRoute) -> tuple[str, ...] | None:
    """The parameters of a query; None if they are a model's fields, which refuses others together with wrong values.

    Raises:
        LookupError: if the model would ignore others.
    """
    found = route.dependant.query_params
    for each in found:
        annotation = each.field_info.annotation
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            if annotation.model_config.get("extra") != "forbid":
                raise LookupError(f"{route.endpoint.__module__}.{route.name} does not refuse unknown parameters")
            return None
    return tuple(each.alias for each in found)


def _find_lists(route: APIRoute) -> tuple[str, ...]:
    found = route.dependant.query_params
    return tuple(each.alias for each in found if get_origin(each.field_info.annotation) is list)


def _caller(needs: Needs) -> Caller:
    return needs if isinstance(needs, Caller) else Caller.TOKEN


def _find_shown_with(needs: Needs, also: Sequence[Permission]) -> list[Permission]:
    """The permissions to read what others write; one that has no such permission is itself one to read."""
    needed = [needs, *also] if isinstance(needs, Permission) else []
    return [_READ_BY.get(each, each) for each in needed]


def _state(
    needs: Needs,
    also: Sequence[Permission],
    place: Place | None,
    operation: Operation,
    *,
    repeatable: bool | None = None,
) -> Callable[[F], F]:
    permissions = (needs, *also) if isinstance(needs, Permission) else ()
    statement = Statement(operation, permissions, place, repeatable)

    def decorate(endpoint: F) -> F:
        setattr(endpoint, _ATTRIBUTE, statement)
        return endpoint

    return decorate
