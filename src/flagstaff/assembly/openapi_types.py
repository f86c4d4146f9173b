"""Gives the schemas of the OpenAPI document the form from which generators of clients make good types.

Each closed set of values that occurs more than once has one name. A schema whose members depend on each other becomes a
choice among schemas, one for each case. The framework's titles, which only repeat the names of members, are left out.
"""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any, get_args

from flagstaff.api.schemas import CASES
from flagstaff.audit.changes_routes import ACTIONS
from flagstaff.changes.actions import IN_PROJECTS
from flagstaff.copying.copies import Part
from flagstaff.flags.flags import Fallthrough, RuleType
from flagstaff.hooks import deliveries, webhooks
from flagstaff.metrics import metrics, request_metrics
from flagstaff.permissions.members import Role
from flagstaff.permissions.permissions import Permission
from flagstaff.projects.sdk_keys import KeyKind
from flagstaff.releases.plans import Action, Counts, WhenLate
from flagstaff.settings import Registration
from flagstaff.views.pinned_charts import Period, Scale, Split

Schemas = dict[str, dict[str, Any]]
_REFERENCE = "#/components/schemas/"
_CLOSED_SETS: Mapping[str, Iterable[str] | type[StrEnum]] = {
    "ChangeAction": ACTIONS,
    "ChartPeriod": get_args(Period),
    "ChartScale": get_args(Scale),
    "ChartSplit": get_args(Split),
    "CountedKeys": Counts,
    "DeliveryState": deliveries.State,
    "EnvironmentRole": [each for each in Role if each is not Role.OWNER],
    "EventPattern": webhooks.PROJECT_PATTERNS,
    "Fallthrough": Fallthrough,
    "GuardAction": Action,
    "InstanceEventPattern": webhooks.INSTANCE_PATTERNS,
    "Measure": request_metrics.Measure,
    "MetricDirection": metrics.Better,
    "MetricKind": metrics.Kind,
    "Part": Part,
    "Permission": Permission,
    "RegistrationMode": get_args(Registration),
    "RequestMetricKind": request_metrics.RequestKind,
    "ResourceKind": IN_PROJECTS,
    "Role": Role,
    "RuleType": RuleType,
    "SdkKeyKind": KeyKind,
    "WebhookDisabledReason": webhooks.Disabled,
    "WebhookFormat": webhooks.Format,
    "WhenLate": WhenLate,
}


def name_closed_sets(document: dict[str, Any]) -> None:
    """Put a reference in the place of each closed set that has a name."""
    values = {name: [str(each) for each in members] for name, members in _CLOSED_SETS.items()}
    names = {tuple(members): name for name, members in values.items()}
    for node in _nodes(document):
        name = names.get(tuple(node.get("enum", ()))) if node.get("type") == "string" else None
        if name is not None:
            del node["enum"], node["type"]
            node["$ref"] = _REFERENCE + name
    schemas = document["components"]["schemas"]
    for name, members in values.items():
        known = _CLOSED_SETS[name]
        described = {"description": known.__doc__} if isinstance(known, type) else {}
        schemas[name] = {"type": "string", "enum": members, **described}


def tidy(document: dict[str, Any]) -> None:
    """Remove the titles, and write whole bounds as whole numbers, in place."""
    for part in ("paths", "components"):
        for node in _nodes(document[part]):
            if isinstance(node.get("title"), str):  # a member with this name has a schema
                del node["title"]
            for bound in ("minimum", "maximum"):
                value = node.get(bound)
                if isinstance(value, float) and value.is_integer():
                    node[bound] = int(value)


def split_cases(schemas: Schemas) -> None:
    """Replace each schema that has cases by a choice among them, in place.

    If a member is another constant in each case, it is the discriminator.
    """
    for schema in list(schemas.values()):
        cases = schema.pop(CASES, None)
        if cases is not None:
            made = {name: _case_of(schema, **case) for name, case in cases.items() if case}
            schemas |= made
            for keyword in ("type", "properties", "required", "additionalProperties"):
                schema.pop(keyword, None)
            schema["oneOf"] = [{"$ref": _REFERENCE + name} for name in cases]
            schema.update(_discriminate(made))


def _case_of(
    whole: dict[str, Any],
    *,
    properties: Mapping[str, Any] | None = None,
    required: Iterable[str] = (),
    without: Iterable[str] = (),
    only: Iterable[str] | None = None,
    **keywords: Any,
) -> dict[str, Any]:
    members: dict[str, Any] = {**whole["properties"], **(properties or {})}
    members = {name: members[name] for name in only or members if name not in without}
    needed = [name for name in members if name in (*whole.get("required", ()), *required)]
    for name in needed:
        members[name] = {keyword: value for keyword, value in members[name].items() if keyword != "default"}
    case = {name: value for name, value in whole.items() if name != "examples"}
    return {**case, **keywords, "properties": members, "required": needed}


def _discriminate(cases: Schemas) -> dict[str, Any]:
    constants = [{name for name, member in case["properties"].items() if "const" in member} for case in cases.values()]
    shared = set.intersection(*constants)
    if not shared:
        return {}
    (member,) = shared
    mapping = {case["properties"][member]["const"]: _REFERENCE + name for name, case in cases.items()}
    return {"discriminator": {"propertyName": member, "mapping": mapping}}


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    """The objects in a document."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _nodes(each)
