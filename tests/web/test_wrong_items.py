"""A list or an object in a body with many wrong items is refused at once.

The framework creates an error for each item. Before lists had a bound, half a megabyte of them took over a second.
"""

import json
from collections.abc import Iterator
from importlib import resources
from typing import Any
from uuid import uuid4

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.http.nesting import FIELDS_MAX, ITEMS_MAX
from tests.support.api import Caller, Json
from tests.support.holds import ask, watch_holds

LONGEST_UNITS = 25  # most of it is the time to read the JSON
DEEPEST = 8
"""Properties by name, and lists by None."""
Place = tuple[str | None, ...]
DOCUMENT = json.loads(resources.files("flagstaff.assembly").joinpath("openapi.json").read_text())


def resolve(schema: Json) -> Iterator[Json]:
    """Yield the alternatives of a schema."""
    if "$ref" in schema:
        yield from resolve(DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    elif "anyOf" in schema or "oneOf" in schema:
        for each in schema.get("anyOf") or schema["oneOf"]:
            yield from resolve(each)
    else:
        yield schema


def find_places(schema: Json, place: Place = ()) -> Iterator[tuple[Place, str]]:
    """Yield the places where a body may have lists, and objects with any keys."""
    if len(place) > DEEPEST:
        return
    for each in resolve(schema):
        if each.get("type") == "array":
            yield place, "list"
            yield from find_places(each.get("items", {}), (*place, None))
        for name, inner in each.get("properties", {}).items():
            yield from find_places(inner, (*place, name))
        if isinstance(each.get("additionalProperties"), dict):
            yield place, "object"


def body_at(place: Place, inside: Any) -> Any:
    """Return a body with something at one place, and nothing else."""
    for step in reversed(place):
        inside = [inside] if step is None else {step: inside}
    return inside


def cases() -> Iterator[Any]:
    for path, operations in DOCUMENT["paths"].items():
        for method, operation in operations.items():
            content = operation.get("requestBody", {}).get("content", {}) if isinstance(operation, dict) else {}
            schema = content.get("application/json", {}).get("schema")
            if schema is not None and path.startswith("/api"):
                for place, kind in dict.fromkeys(find_places(schema)):
                    name = ".".join("0" if step is None else step for step in place)
                    yield pytest.param(method, path, place, kind, id=f"{operation['operationId']}: {name}")


@pytest.fixture
def environ() -> dict[str, str]:
    """No limit on the calls of an account."""
    return {"FLAGSTAFF_API_RATE_LIMIT": "off"}


@pytest.mark.parametrize(("method", "path", "place", "kind"), list(cases()))
async def test_thousands_of_wrong_items_are_refused_at_once(
    flagstaff: Flagstaff, ada: Caller, project: Json, method: str, path: str, place: Place, kind: str
) -> None:
    operation = DOCUMENT["paths"][path][method]
    assert ada.token
    url = path
    for parameter in [*DOCUMENT["paths"][path].get("parameters", []), *operation.get("parameters", [])]:
        url = url.replace(f"{{{parameter.get('name')}}}", str(uuid4()))
    url = url.replace("{project_id}", project["id"])
    for size in (ITEMS_MAX - 100, 8_000, 100):  # the largest body that the operation accepts
        wrong: Any = [1] * size if kind == "list" else {f"k{n}": [] for n in range(min(size, FIELDS_MAX - 100))}
        content = json.dumps(body_at(place, wrong), separators=(",", ":")).encode()
        async with watch_holds() as holds:
            status, _ = await ask(flagstaff.edge.asgi, method.upper(), url, token=ada.token, content=content)
        assert status in (400, 413)
        assert holds.longest_in_units < LONGEST_UNITS
