"""Converts the framework's errors for bad input and unknown routes to problem documents."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

from flagstaff.concurrency.worker import in_worker
from flagstaff.http.errors import Problem, internal_problem, problem, problem_of
from flagstaff.http.fields import MAX_FIELD_ERRORS, unknown_field
from flagstaff.http.nesting import IS_LARGE
from flagstaff.values.errors import Code, Error, FieldError, invalid_field
from flagstaff.values.lists import dismantle

_MESSAGES = {
    "missing": "is required",
    "string_type": "must be a string",
    "string_unicode": "must be valid Unicode, without lone surrogates",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number",
    "uuid_parsing": "must be a UUID",
    "uuid_type": "must be a UUID",
    "bool_type": "must be true or false",
    "json_invalid": "is not valid JSON",
    "model_attributes_type": "must be a JSON object, sent with Content-Type: application/json",
    "list_type": "must be a list",
    "dict_type": "must be a JSON object, sent with Content-Type: application/json",
}
_UNREADABLE = "cannot be read as JSON: it contains a number that is too long"
_DETAILS = {
    404: "There is no resource at this path.",
    405: "This path does not support the method {method}. The Allow header lists those it supports.",
}


def add_problem_handlers(app: FastAPI) -> None:
    """Answer every error inside the application with a problem document."""
    app.add_exception_handler(Error, _domain_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _crash)  # the framework raises it again, and the edge logs it


async def _domain_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, Error)
    return _response(problem_of(error, request.state.request_id))


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    fields = [_field_error(request, each) for each in error.errors()[:MAX_FIELD_ERRORS]]
    answer = problem_of(Error(Code.INVALID, "The request is invalid.", fields=fields), request.state.request_id)
    if request.scope["state"].get(IS_LARGE):
        await in_worker(dismantle, [error.body, error.errors()])
    return _response(answer)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if isinstance(error.__cause__, Error):  # the framework wraps whatever is raised while it reads a body
        return await _domain_error(request, error.__cause__)
    if error.status_code == 400:  # a body that fails for a reason other than its syntax
        message = "is not UTF-8" if isinstance(error.__cause__, UnicodeDecodeError) else _UNREADABLE
        return await _domain_error(request, invalid_field("body", message))
    detail = _DETAILS.get(error.status_code, error.detail).format(method=request.method)
    headers = [(b"allow", ", ".join(_allowed_methods(request)).encode())] if error.status_code == 405 else []
    return _response(problem(error.status_code, detail, request.state.request_id, headers=headers))


async def _crash(request: Request, _error: Exception) -> Response:
    return _response(internal_problem(request.state.request_id))


def _field_error(request: Request, error: Mapping[str, Any]) -> FieldError:
    place, *path = error["loc"]
    field = ".".join(str(part) for part in path if error["type"] != "json_invalid") or str(place)
    match error["type"]:
        case "value_error":
            return FieldError(field, str(error["ctx"]["error"]))
        case "extra_forbidden":
            return FieldError(
                field, unknown_field(str(path[-1]), _known_fields(request.scope.get("route"), place, path))
            )
        case "literal_error" | "enum":
            return FieldError(field, f"must be {error['ctx']['expected']}")
        case "greater_than_equal":
            return FieldError(field, f"must be at least {error['ctx']['ge']}")
        case "less_than_equal":
            return FieldError(field, f"must be at most {error['ctx']['le']}")
        case "model_attributes_type" | "model_type" | "dict_type" if path:
            return FieldError(field, "must be an object")
        case kind:
            return FieldError(field, _MESSAGES.get(kind, error["msg"]))


def _known_fields(route: object, place: str, path: Sequence[str | int]) -> list[str]:
    """The fields of the object that has an unknown field at this path."""
    if not isinstance(route, APIRoute):
        return []
    found = route.dependant.query_params if place == "query" else [route.body_field]
    models = [model for each in found if each is not None for model in _models_in(each.field_info.annotation)]
    for step in path[:-1]:
        inner = [model.model_fields[step].annotation for model in models if step in model.model_fields]
        models = [each for annotation in inner for each in _models_in(annotation)] if isinstance(step, str) else models
    return [field.alias or name for model in models for name, field in model.model_fields.items()]


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    """The models in an annotation such as `list[Model] | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for inner in get_args(annotation) for model in _models_in(inner)]


def _allowed_methods(request: Request) -> list[str]:
    """The methods of all routes at this path; the framework names only the methods of the first."""
    allowed: set[str] = set()
    for route in request.app.routes:
        if route.matches(request.scope)[0] is not Match.NONE:
            allowed |= getattr(route, "methods", None) or set()
    return sorted(allowed)


def _response(answer: Problem) -> Response:
    response = Response(answer.body, answer.status)
    response.raw_headers = list(answer.headers)
    return response
