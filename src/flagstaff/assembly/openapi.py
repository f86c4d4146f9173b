"""The OpenAPI document: what the routes declare, corrected where the framework adds or omits something."""

from typing import Any

from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from flagstaff import __version__
from flagstaff.api.entity_tags import IF_MATCH, TaggedOut
from flagstaff.api.idempotency import KEY_PATTERN
from flagstaff.api.operations import Statement, statement_of
from flagstaff.api.routers import complete
from flagstaff.assembly.api import create_api
from flagstaff.http.probes import PARTS
from flagstaff.http.problems import DOCUMENTED, ProblemDocument, problems
from flagstaff.http.revisions import CHANGE, LIVE_ON, MISSING, REVISION, STALE
from flagstaff.serving.context import CONTEXT_SCHEMA
from flagstaff.serving.evaluate import PATH
from flagstaff.serving.events import EVENTS_MAX
from flagstaff.serving.events import PATH as EVENTS_PATH
from flagstaff.serving.revisions import MIN_REVISION

PERMISSION = "x-required-permission"
ALSO = "x-also-required"
PLACE = "x-required-in"
_DESCRIPTION = """Self-hosted feature flags.

People manage flags under `/api` with a bearer token; applications ask `POST /sdk/v1/evaluate` with their project's
SDK key.
Every error is a problem document (RFC 9457). Every response carries `X-Request-ID`.
"""

_MINIMUM_REVISION = {
    "name": MIN_REVISION,
    "in": "header",
    "required": False,
    "description": "The number in `Flagstaff-Revision` of a change's response. The answer contains the change, or is a "
    "503.",
    "schema": {"type": "integer", "minimum": 0, "maximum": 10**18 - 1},
}
_ANSWERED_REVISION = {
    "description": "The revision of the environment's state that the answer is from.",
    "schema": {"type": "integer"},
}
_STALE = {
    "description": "Only from an instance that is cut off from the database: the number of seconds for which it may "
    "have missed changes.",
    "schema": {"type": "integer", "minimum": 1},
}
_EVALUATE: dict[str, Any] = {
    "tags": ["Evaluation"],
    "summary": "Evaluate",
    "description": "Every flag of an environment for one user, with the reason. On any other status, treat all as off.",
    "operationId": "evaluate",
    "parameters": [_MINIMUM_REVISION],
    "security": [{"SDKKey": []}],
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["environment"],
                    "properties": {
                        "environment": {"type": "string", "description": "The key of an environment of the project."},
                        "context": CONTEXT_SCHEMA,
                    },
                    "example": {"environment": "production", "context": {"user_id": "user-42"}},
                }
            }
        },
    },
    "responses": {
        "200": {
            "description": "The flags by key.",
            "headers": {REVISION: _ANSWERED_REVISION, STALE: _STALE},
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/EvaluateOut"}}},
        },
        **{str(status): answer for status, answer in problems(400, 401, 404, 413, 429, 500, 503).items()},
    },
}
_EVALUATE["responses"]["401"] = {**_EVALUATE["responses"]["401"], "description": "The SDK key is missing or not valid."}
_EVALUATE["responses"]["404"] = {**_EVALUATE["responses"]["404"], "description": "The project has no such environment."}
_EVENT = {
    "type": "object",
    "additionalProperties": False,
    "required": ["metric"],
    "properties": {
        "metric": {"type": "string", "description": "The key of a metric of the project."},
        "user_id": {"type": ["string", "null"]},
        "user_email": {"type": ["string", "null"], "description": "Stands for the user without a `user_id`."},
        "value": {"type": ["number", "null"], "description": "Only of counts and values."},
        "at": {
            "type": ["string", "null"],
            "format": "date-time",
            "description": "At most a day ago and a minute ahead; now if it is left out.",
        },
        "id": {"type": ["string", "null"], "description": "A repetition with the same id counts once."},
        "attributes": {
            "type": ["object", "null"],
            "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
            "description": "For flags whose stickiness is an attribute.",
        },
    },
}
_EVENTS: dict[str, Any] = {
    "tags": ["Evaluation"],
    "summary": "Send events",
    "description": "Events of metrics: what users did. The response names the events that are not accepted; the others "
    "count.",
    "operationId": "send_events",
    "security": [{"SDKKey": []}],
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["environment", "events"],
                    "properties": {
                        "environment": {"type": "string", "description": "The key of an environment of the project."},
                        "events": {"type": "array", "maxItems": EVENTS_MAX, "items": _EVENT},
                    },
                    "example": {
                        "environment": "production",
                        "events": [{"metric": "checkout-error", "user_id": "user-42"}],
                    },
                }
            }
        },
    },
    "responses": {
        "202": {
            "description": "The number of accepted events, and why the others were ignored.",
            "headers": {REVISION: _ANSWERED_REVISION, STALE: _STALE},
            "content": {
                "application/json": {
                    "schema": {
                        "type": "object",
                        "required": ["accepted", "ignored"],
                        "properties": {
                            "accepted": {"type": "integer"},
                            "ignored": {
                                "type": "array",
                                "items": {
                                    "type": "object",
                                    "required": ["index", "reason"],
                                    "properties": {"index": {"type": "integer"}, "reason": {"type": "string"}},
                                },
                            },
                        },
                    }
                }
            },
        },
        **{status: answer for status, answer in _EVALUATE["responses"].items() if status != "200"},
    },
}
_IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
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
_EVALUATE_ONE = {
    **_EVALUATE,
    "summary": "Evaluate a flag",
    "description": "One flag of an environment for one user, with the reason. On any other status, treat it as off.",
    "operationId": "evaluate_flag",
    "parameters": [
        {"name": "flag_key", "in": "path", "required": True, "schema": {"type": "string"}},
        _MINIMUM_REVISION,
    ],
    "responses": {
        **_EVALUATE["responses"],
        "200": {
            "description": "The flag.",
            "headers": {REVISION: _ANSWERED_REVISION, STALE: _STALE},
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/EvaluatedFlag"}}},
        },
        "404": {**_EVALUATE["responses"]["404"], "description": "The project has no such environment or flag."},
    },
}
_EVALUATED_FLAG = {
    "type": "object",
    "required": ["enabled", "reason"],
    "properties": {
        "enabled": {"type": "boolean"},
        "reason": {"type": "string", "description": "For debugging; branch on `enabled`."},
        "variant": {
            "type": ["string", "null"],
            "description": "Only of a flag with variants: the key of the user's, or null if the flag is off.",
        },
        "value": {
            "type": ["string", "number", "boolean", "object", "null"],
            "description": "The variant's value.",
        },
    },
}
_EVALUATE_OUT = {
    "type": "object",
    "required": ["flags"],
    "properties": {
        "flags": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/EvaluatedFlag"}},
    },
}

_READY = """Whether everything works; otherwise a 503 with the problems in `detail`, and the working parts in `works`.

`for` limits the check to one part: `evaluations`, which are answered from memory even while the database is
unavailable; `writes`, which are changes; or `history`, to which evaluations are recorded.

The answer is at most a second old, except that a stop is reported at once."""
_STATUS_OUT = {
    "properties": {"status": {"type": "string", "title": "Status"}},
    "type": "object",
    "required": ["status"],
    "title": "StatusOut",
    "description": "The service works.",
}
_WORKS = {
    "description": "Successful Response",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/StatusOut"}}},
}
_PROBES = {
    "/health": {
        "tags": ["Health"],
        "summary": "Health",
        "description": "The process is alive.",
        "operationId": "health",
        "responses": {"200": _WORKS},
    },
    "/ready": {
        "tags": ["Health"],
        "summary": "Ready",
        "description": _READY,
        "operationId": "ready",
        "parameters": [
            {
                "name": "for",
                "in": "query",
                "required": False,
                "schema": {"anyOf": [{"enum": list(PARTS), "type": "string"}, {"type": "null"}], "title": "For"},
            }
        ],
        "responses": {"200": _WORKS, **{str(status): answer for status, answer in problems(400, 503).items()}},
    },
    "/metrics": {
        "tags": ["Health"],
        "summary": "Metrics",
        "description": "Metrics for Prometheus, at most a second old.",
        "operationId": "metrics",
        "responses": {"200": {"description": "Successful Response", "content": {"text/plain": {}}}},
    },
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
    operation["responses"] = dict(
        sorted((operation["responses"] | {"400": problems(400)[400], "412": changed}).items())
    )


def _describe_permission(operation: dict[str, Any], statement: Statement, path: str) -> None:
    permission, *also = statement.permissions
    operation[PERMISSION] = permission
    if also:
        operation[ALSO] = also
    operation[PLACE] = statement.place or ("environment" if "{env_id}" in path else "project")
    wanted = " and ".join(f"`{each}`" for each in statement.permissions)
    operation["description"] += f"\n\nRequires the {'permissions' if also else 'permission'} {wanted}."
    operation["responses"] = dict(sorted((operation["responses"] | {"403": problems(403)[403]}).items()))


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
    elif not statement.operation.reads:
        operation["responses"] = dict(sorted((operation["responses"] | {"400": problems(400)[400]}).items()))
    if "security" in operation:
        operation["responses"] |= {"429": problems(429)[429]}  # the limit of the account
    if statement.permissions:
        _describe_permission(operation, statement, route.path_format)
    if any(each["name"] == "cursor" for each in operation.get("parameters", ())):
        _describe_link(operation["responses"]["200"])


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
    document = get_openapi(title="Flagstaff", version=__version__, description=_DESCRIPTION, routes=app.routes)
    for route in app.routes:
        if isinstance(route, APIRoute) and route.include_in_schema:
            for method in route.methods or ():
                _complete(route, document["paths"][route.path_format][method.lower()])
    document["paths"] |= {path: {"get": operation} for path, operation in _PROBES.items()}
    document["paths"][PATH] = {"post": _EVALUATE}
    document["paths"][f"{PATH}/{{flag_key}}"] = {"post": _EVALUATE_ONE}
    document["paths"][EVENTS_PATH] = {"post": _EVENTS}
    components = document["components"]
    for unused in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(unused, None)
    problem = ProblemDocument.model_json_schema(ref_template="#/components/schemas/{model}")
    components["schemas"] |= {
        **problem.pop("$defs"),
        "ProblemDocument": problem,
        "EvaluateOut": _EVALUATE_OUT,
        "EvaluatedFlag": _EVALUATED_FLAG,
        "StatusOut": _STATUS_OUT,
    }
    components["schemas"] = dict(sorted(components["schemas"].items()))
    _share_problems(document)
    components["securitySchemes"]["SDKKey"] = {"type": "apiKey", "in": "header", "name": "X-SDK-Key"}
    return document
