"""The operations that are answered without the framework, as the OpenAPI document describes them.

These are evaluations, events and probes, which are answered before the management API is loaded.
"""

from typing import Any

from flagstaff.http.probes import PARTS
from flagstaff.http.problems import problems
from flagstaff.http.revisions import REVISION, STALE
from flagstaff.serving.context import CONTEXT_OBJECT, CONTEXT_SCHEMA
from flagstaff.serving.evaluate import PATH
from flagstaff.serving.events import EVENTS_MAX
from flagstaff.serving.events import PATH as EVENTS_PATH
from flagstaff.serving.revisions import MIN_REVISION

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
_EVALUATE_BODY = {
    "type": "object",
    "additionalProperties": False,
    "required": ["environment"],
    "properties": {
        "environment": {"type": "string", "description": "The key of an environment of the project."},
        "context": CONTEXT_SCHEMA,
    },
    "description": "The environment whose flags are evaluated, and the user.",
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
            "application/json": {"schema": {"$ref": "#/components/schemas/EvaluateBody"}},
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
_EVALUATE["responses"]["404"] = {
    **_EVALUATE["responses"]["404"],
    "description": "The project has no such environment.",
    "headers": {STALE: _STALE},
}
_EVENT = {
    "description": "Something that a user did, or that happened to a user.",
    "type": "object",
    "additionalProperties": False,
    "required": ["metric"],
    "properties": {
        "metric": {"type": "string", "description": "The key of a metric of the project."},
        "user_id": {"type": ["string", "null"]},
        "user_email": {"type": ["string", "null"], "description": "Stands for the user without a `user_id`."},
        "value": {"type": ["number", "null"], "description": "Only of counts and values."},
        "at": {
            "anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}],
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
_EVENTS_BODY = {
    "type": "object",
    "additionalProperties": False,
    "required": ["environment", "events"],
    "properties": {
        "environment": {"type": "string", "description": "The key of an environment of the project."},
        "events": {"type": "array", "maxItems": EVENTS_MAX, "items": {"$ref": "#/components/schemas/Event"}},
        "sdk_key": {
            "type": ["string", "null"],
            "description": "The SDK key, for requests without headers of their own, such as beacons.",
        },
    },
    "description": "Events of an environment.",
}
_EVENTS_OUT = {
    "type": "object",
    "required": ["accepted", "ignored"],
    "properties": {
        "accepted": {"type": "integer", "description": "How many events count."},
        "ignored": {"type": "array", "items": {"$ref": "#/components/schemas/IgnoredEvent"}},
    },
    "description": "What came of the events.",
}
_IGNORED_EVENT = {
    "type": "object",
    "required": ["index", "reason"],
    "properties": {
        "index": {"type": "integer", "description": "The place of the event in the request, from 0 on."},
        "reason": {"type": "string"},
    },
    "description": "An event that does not count, and why.",
}
_EVENTS: dict[str, Any] = {
    "tags": ["Evaluation"],
    "summary": "Send events",
    "description": "Events of metrics: what users did. The response names the events that are not accepted; the others "
    "count.",
    "operationId": "send_events",
    "security": [{"SDKKey": []}, {}],
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/EventsBody"}},
        },
    },
    "responses": {
        "202": {
            "description": "The number of accepted events, and why the others were ignored.",
            "headers": {REVISION: _ANSWERED_REVISION, STALE: _STALE},
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/EventsOut"}}},
        },
        **{status: answer for status, answer in _EVALUATE["responses"].items() if status != "200"},
    },
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
    "description": "A flag as it is for the user.",
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
            "additionalProperties": True,
            "description": "The variant's value.",
        },
    },
}
_EVALUATE_OUT = {
    "description": "Every flag of the environment, by its key.",
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
    "properties": {
        "status": {"type": "string"},
        "detail": {
            "type": "string",
            "description": "Only of `/ready`: what works now, but may not after the next start, and what to do.",
        },
    },
    "type": "object",
    "required": ["status"],
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
                "schema": {"anyOf": [{"enum": list(PARTS), "type": "string"}, {"type": "null"}]},
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

PATHS: dict[str, dict[str, Any]] = {
    **{path: {"get": operation} for path, operation in _PROBES.items()},
    PATH: {"post": _EVALUATE},
    f"{PATH}/{{flag_key}}": {"post": _EVALUATE_ONE},
    EVENTS_PATH: {"post": _EVENTS},
}
SCHEMAS = {
    "Context": CONTEXT_OBJECT,
    "EvaluateBody": _EVALUATE_BODY,
    "EvaluateOut": _EVALUATE_OUT,
    "EvaluatedFlag": _EVALUATED_FLAG,
    "Event": _EVENT,
    "EventsBody": _EVENTS_BODY,
    "EventsOut": _EVENTS_OUT,
    "IgnoredEvent": _IGNORED_EVENT,
    "StatusOut": _STATUS_OUT,
}
