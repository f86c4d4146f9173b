"""An application with one of Unleash's SDKs: the engine of those for Python, Java, .NET, Ruby and Rust, in process."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from yggdrasil_engine.engine import UnleashEngine

from flagstaff.conditions.attributes import Form, read
from flagstaff.conditions.conditions import Condition
from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.evaluation.unleash import features
from flagstaff.evaluation.unleash.differences import BUILD_METADATA, EMPTY_TEXT, Difference
from flagstaff.evaluation.unleash.features import Translation
from flagstaff.serving.context import ATTRIBUTES_MAX_BYTES


class Result(NamedTuple):
    """The result of a flag: whether it is on, and the name of its variant and the value, if it has any."""

    enabled: bool
    variant: str | None
    value: Any


def translate(
    flags: Iterable[TargetedFlag], segments: Mapping[str, Sequence[Condition]], environment_key: str
) -> dict[str, Translation]:
    """The features of an environment by key."""
    return features.translate(environment_key, {each.flag.key: each for each in flags}, segments)


def context_of(
    user_id: str | None, user_email: str | None, attributes: Mapping[str, Any], now: datetime
) -> dict[str, Any]:
    """Return a user in the form in which an application passes it to an SDK, according to the guide."""
    context: dict[str, Any] = {"properties": dict(attributes), "currentTime": now.isoformat()}
    if user_id is not None:
        context["userId"] = user_id
    if user_email is not None:
        context["properties"]["email"] = user_email
    return context


def can_be_passed(attributes: Mapping[str, Any]) -> bool:
    """Return whether an application can pass these attributes to an SDK, whose attributes are texts."""
    size = sum(len(json.dumps(value)) for value in attributes.values())
    return size <= ATTRIBUTES_MAX_BYTES and all(map(_can_be_passed, attributes.values()))


def as_texts(attributes: Mapping[str, Any]) -> dict[str, str]:
    """Return the attributes as texts, in the form in which they are read here. None is a missing one."""
    found = {name: read(Form.TEXT, value) for name, value in attributes.items()}
    return {name: readings[0] for name, readings in found.items() if readings}


def is_unusual(differences: Iterable[Difference], attributes: Mapping[str, str]) -> bool:
    """Return whether an attribute has a value that SDKs answer differently, according to these differences."""
    has_empty = EMPTY_TEXT in differences and "" in attributes.values()
    return has_empty or (BUILD_METADATA in differences and any("+" in text for text in attributes.values()))


def _can_be_passed(value: Any) -> bool:
    return value is None or (not isinstance(value, list | dict) and bool(read(Form.TEXT, value)))


class Engine:
    """The engine with a state."""

    def __init__(self, features: Iterable[Mapping[str, Any]]) -> None:
        self._engine = UnleashEngine()
        self._engine.take_state(json.dumps({"version": 2, "features": list(features), "segments": []}))

    def ask(self, key: str, context: Mapping[str, Any]) -> Result:
        """Return the result of a flag for a user."""
        is_enabled = bool(self._engine.is_enabled(key, context).is_enabled)
        variant = self._engine.get_variant(key, context).variant
        if not variant.enabled:
            return Result(is_enabled, None, None)
        return Result(is_enabled, variant.name, read_payload(variant.payload))


def read_payload(payload: Mapping[str, str] | None) -> Any:
    """Return the value in a payload."""
    if payload is None:
        return None
    return payload["value"] if payload["type"] == "string" else json.loads(payload["value"])


def written(value: Any) -> Any:
    """Return a variant's value as SDKs return it: booleans are texts there."""
    return json.dumps(value) if isinstance(value, bool) else value
