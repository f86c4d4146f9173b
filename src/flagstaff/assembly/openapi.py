"""The OpenAPI document: what the routes declare, corrected where the framework adds or omits something."""

from copy import deepcopy
from typing import Any

from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from flagstaff import __version__
from flagstaff.api.entity_tags import IF_MATCH, TaggedOut
from flagstaff.api.idempotency import IDEMPOTENCY_KEY, KEY_PATTERN
from flagstaff.api.operations import Statement, statement_of
from flagstaff.api.routers import complete
from flagstaff.assembly.api import create_api
from flagstaff.assembly.openapi_examples import EXAMPLES, SEVERAL
from flagstaff.assembly.openapi_paths import PATHS, SCHEMAS
from flagstaff.assembly.openapi_types import name_closed_sets, split_cases, tidy
from flagstaff.http.problems import DOCUMENTED, ProblemDocument, problems
from flagstaff.http.revisions import CHANGE, LIVE_ON, MISSING, REVISION

PERMISSION = "x-required-permission"
ALSO = "x-also-required"
PLACE = "x-required-in"
SHOWN_WITH = "x-shown-with"
_DESCRIPTION = """Self-hosted feature flags.

People manage flags under `/api` with a bearer token; applications ask `POST /sdk/v1/evaluate` with their project's
SDK key.
Every error is a problem document (RFC 9457). Every response carries `X-Request-ID`.
"""

_SERVERS: list[dict[str, str | Any]] = [
    {"url": "/", "description": "The server that this document is read from."},
    {"url": "http://127.0.0.1:8000", "description": "A server on this machine, as `flagstaff serve` starts it."},
]
_IDEMPOTENCY_KEY = {
    "name": IDEMPOTENCY_KEY,
    "in": "header",
    "required": False,
    "description": "A unique text for each request, such as a UUID. A request that is repeated with the same key "
    "within 24 hours is not executed again, and gets the same response.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": KEY_PATTERN},
}
_IDEMPOTENCY_REPLAYED = {
    "description": "`true` if this is the stored answer to an earlier request with the same `Idempotency-Key`.",
    "schema": {"type": "string", "const": "true"},
}
_REVISION = {
    "description": "The revision of the project: the one that this request has created, if it has changed evaluations, "
    "or else the one that it has found. Later states have higher revisions.",
    "schema": {"type": "integer"},
}
_ETAG = {
    "description": "The entity tag of the resource's state, for `If-Match`. If the resource has `updated_at`, it is "
    "that time, in quotes. Compression marks it with `W/`, which `If-Match` accepts.",
    "schema": {"type": "string", "example": '"2026-11-20T10:00:00.123456Z"'},
}
_CHANGE = {
    "description": "The latest change that the request has made, by its id in the audit trail.",
    "schema": {"type": "string"},
}
_LIVE_ON = {
    "description": "The number of instances on which the revision is live, and the number of all instances; only with "
    "several instances.",
    "schema": {"type": "string", "pattern": "^[0-9]+/[0-9]+$", "example": "2/3"},
}
_MISSING = {
    "description": "The names of the others, which have ended or are cut off from the database.",
    "schema": {"type": "string"},
}


def _describe_idempotency(operation: dict[str, Any]) -> None:
    operation.setdefault("parameters", []).append(_IDEMPOTENCY_KEY)
    for status, answer in problems(400, 409, 413, 429).items():
        operation["responses"].setdefault(str(status), answer)
    for status, answer in operation["responses"].items():
        if status < "300":
            answer.setdefault("headers", {})["Idempotency-Replayed"] = _IDEMPOTENCY_REPLAYED
    operation["responses"] = dict(sorted(operation["responses"].items()))


def _describe_revision(operation: dict[str, Any]) -> None:
    for status, answer in operation["responses"].items():
        if status < "300":
            answer.setdefault("headers", {}).update(
                {REVISION: _REVISION, CHANGE: _CHANGE, LIVE_ON: _LIVE_ON, MISSING: _MISSING}
            )


def _describe_tag(operation: dict[str, Any]) -> None:
    """Document the ETag of a response that consists of a resource."""
    for status, answer in operation["responses"].items():
        if status < "300":
            answer.setdefault("headers", {})["ETag"] = _ETAG


def _describe_precondition(operation: dict[str, Any]) -> None:
    """Document the refusal of a request whose resource is in another state."""
    changed = {**problems(412)[412], "headers": {"ETag": _ETAG}}
    operation["responses"] = dict(sorted((operation["responses"] | {"412": changed}).items()))


def _describe_permission(operation: dict[str, Any], statement: Statement, path: str) -> None:
    permission, *also = statement.permissions
    operation[PERMISSION] = permission
    if also:
        operation[ALSO] = also
    operation[PLACE] = statement.place or ("environment" if "{env_id}" in path else "project")
    wanted = " and ".join(f"`{each}`" for each in statement.permissions)
    operation["description"] += f"\n\nRequires the {'permissions' if also else 'permission'} {wanted}."


def _describe_shown(operation: dict[str, Any], statement: Statement) -> None:
    """Say what an access token needs to be shown what it has written."""
    needed = sorted(statement.operation.shown_with)
    operation[SHOWN_WITH] = needed
    if missing := [each for each in needed if each not in statement.permissions]:
        named = " and ".join(f"`{each}`" for each in missing)
        told = "".join(f", and `{each}`" for each in statement.operation.tells)
        operation["description"] += f" An access token without {named} gets only ids, keys and new secrets{told}."


def _describe_optional_body(body: dict[str, Any]) -> None:
    """Say that a body may be left out, which the framework describes as null."""
    content = body["content"]["application/json"]
    content["schema"], _ = content["schema"]["anyOf"]
    body["required"] = False


def _describe_link(success: dict[str, Any]) -> None:
    """Document the header with which a list links to its next part."""
    if success["content"]["application/json"]["schema"].get("type") == "array":
        text = 'With `limit`: a link to the next part of the list, as `<?limit=…&cursor=…>; rel="next"`.'
        success["headers"] = {"Link": {"description": text, "schema": {"type": "string"}}}


def _complete(route: APIRoute, operation: dict[str, Any]) -> None:
    """Add to an operation what the framework does not know."""
    statement = statement_of(route)
    operation["operationId"] = route.name
    operation["responses"].pop("422", None)  # bad input is a 400 here
    if statement.operation.reports_revision:
        _describe_revision(operation)
    if statement.operation.is_repeatable:
        _describe_idempotency(operation)
    if isinstance(route.response_model, type) and issubclass(route.response_model, TaggedOut):
        _describe_tag(operation)
    if any(each["name"] == IF_MATCH for each in operation.get("parameters", ())):
        _describe_precondition(operation)
    if not operation.get("requestBody", {"required": True}).get("required"):
        _describe_optional_body(operation["requestBody"])
    refusals = problems(400)
    if "security" in operation:
        refusals |= problems(403, 429)  # access tokens are limited, and so is the account
    operation["responses"] |= {str(status): answer for status, answer in refusals.items()}
    operation["responses"] = dict(sorted(operation["responses"].items()))
    if statement.permissions:
        _describe_permission(operation, statement, route.path_format)
    if (
        statement.operation.shown_with
        and statement.operation.accepts_access_tokens
        and "204" not in operation["responses"]
    ):
        _describe_shown(operation, statement)
    if any(each["name"] == "cursor" for each in operation.get("parameters", ())):
        _describe_link(operation["responses"]["200"])


def _add_example(operation: dict[str, Any]) -> None:
    """Put an example of the body beside its schema."""
    if "requestBody" in operation:
        content = operation["requestBody"]["content"]["application/json"]
        name = content["schema"]["$ref"].rpartition("/")[2]
        if name in SEVERAL:
            content["examples"] = {shown: {"value": value} for shown, value in SEVERAL[name].items()}
        else:
            content["example"] = EXAMPLES[name]


def _share_problems(document: dict[str, Any]) -> None:
    """Let operations refer to one description of each error, instead of repeating it."""
    shared = {str(status): answer for status, answer in problems(*DOCUMENTED).items()}
    for operations in document["paths"].values():
        for operation in operations.values():
            for status, answer in operation["responses"].items():
                if answer == shared.get(status):
                    operation["responses"][status] = {"$ref": f"#/components/responses/{status}"}
    document["components"]["responses"] = shared


def describe_api() -> dict[str, Any]:
    """The document of all routes, made anew, which takes half a second of processor time."""
    app = create_api()
    complete(app.routes)
    document = get_openapi(
        title="Flagstaff", version=__version__, description=_DESCRIPTION, routes=app.routes, servers=_SERVERS
    )
    for route in app.routes:
        if isinstance(route, APIRoute) and route.include_in_schema:
            for method in route.methods or ():
                _complete(route, document["paths"][route.path_format][method.lower()])
    document["paths"] |= deepcopy(PATHS)
    for operations in document["paths"].values():
        for operation in operations.values():
            _add_example(operation)
    components = document["components"]
    for unused in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(unused, None)
    problem = ProblemDocument.model_json_schema(ref_template="#/components/schemas/{model}")
    components["schemas"] |= {**problem.pop("$defs"), "ProblemDocument": problem, **SCHEMAS}
    split_cases(components["schemas"])
    name_closed_sets(document)
    tidy(document)
    components["schemas"] = dict(sorted(components["schemas"].items()))
    _share_problems(document)
    components["securitySchemes"]["SDKKey"] = {"type": "apiKey", "in": "header", "name": "X-SDK-Key"}
    return document
