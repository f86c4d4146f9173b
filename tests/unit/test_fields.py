"""Each list that speaks of a resource has every field of its dataclass, or the exception is named here.

A field that is added is in all of these lists, and a list that is written by hand and forgets it fails. Words for the
field are in `tests/test_field_names.py`.
"""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from flagstaff.audit.recorded_values import read_resource
from flagstaff.changes.changes import COMMAND_LINE as ACTOR
from flagstaff.changes.changes import OWN_FIELDS, Scope, change_of, recorded
from flagstaff.copying.comparisons import Comparison, Side, same_rule
from flagstaff.copying.copies import Part, copied_flag, new_flag, rule_like
from flagstaff.copying.restores import values_before
from flagstaff.flags.flags import DETAILS, Flag, Rule
from flagstaff.flags.targeting.segments import Segment
from flagstaff.identity.sessions.sessions import Session
from flagstaff.insight.cleanup import CARE
from flagstaff.people.erasures import Erasure
from tests.support.builders import AT, make_flag, make_rule, make_segment
from tests.support.events_page import RESOURCES
from tests.support.fields import altered, field_names

DOCUMENT = Path(__file__).parents[2] / "src/flagstaff/assembly/openapi.json"
SCHEMAS: dict[str, Any] = json.loads(DOCUMENT.read_text())["components"]["schemas"]
KINDS = {kind: type(resource) for kind, resource in RESOURCES.items()} | {"session": Session, "erasure": Erasure}
NOT_RECORDED = {
    "project": {"sdk_key"},
    "environment": {"position"},
    "webhook": {"url"},
    "comment": {"text"},
    "account": {"password_hash"},
}
SHOWN = {
    "project": "ProjectOut",
    "environment": "EnvironmentOut",
    "flag": "FlagOut",
    "rule": "RuleOut",
    "segment": "SegmentOut",
    "metric": "MetricOut",
    "comment": "CommentOut",
    "view": "ViewOut",
    "pinned_chart": "PinnedChartOut",
    "sdk_key": "SdkKeyOut",
    "member": "MemberOut",
    "invitation": "InvitationOut",
    "token": "AccessTokenOut",
    "webhook": "WebhookOut",
    "session": "AccountSessionOut",
    "erasure": "ErasureOut",
    "instance": "InstanceSettingsOut",
}
SHOWN_OTHERWISE = {
    "project": {"owner_id", "demands_second_factor"},  # the latter on a page of its own, and the former to nobody
    "environment": {"position"},  # as an order
    "comment": {"environment_id", "flag_id", "release_id", "change", "author_id", "author_email"},  # in two objects
    "sdk_key": {
        "project_id",
        "environment_id",
        "creator_id",
        "creator_email",
        "replaces_id",
    },  # `created_by`, `replaces`
    "member": {"project_id"},
    "invitation": {"project_id"},
    "token": {"project_id"},
    "webhook": {"host"},
    "session": {"account_id"},
    "erasure": {"until"},
}
UPDATES = {
    "ProjectOut": "ProjectUpdate",
    "EnvironmentOut": "EnvironmentUpdate",
    "FlagOut": "FlagUpdate",
    "RuleOut": "RuleUpdate",
    "SegmentOut": "SegmentUpdate",
    "MetricOut": "MetricUpdate",
    "CommentOut": "CommentUpdate",
    "ViewOut": "ViewUpdate",
    "PinnedChartOut": "PinnedChartUpdate",
    "SdkKeyOut": "SdkKeyUpdate",
    "MemberOut": "MemberUpdate",
    "WebhookOut": "WebhookUpdate",
    "InstanceSettingsOut": "InstanceSettingsUpdate",
}
NEW = {
    "FlagUpdate": ("NewFlag", set()),
    "RuleUpdate": ("NewRule", set()),
    "SegmentUpdate": ("NewSegment", set()),
    "MetricUpdate": ("NewMetric", set()),
    "CommentUpdate": ("NewComment", set()),
    "ViewUpdate": ("NewView", set()),
    "PinnedChartUpdate": ("NewPinnedChart", set()),
    "SdkKeyUpdate": ("NewSdkKey", set()),
    "WebhookUpdate": ("NewWebhook", set()),
    "EnvironmentUpdate": ("NewEnvironment", {"history_retention_days"}),
    "ProjectUpdate": ("NewProject", {"history_retention_days", "shares_contents"}),
}
FLAG_FIELDS = [name for name in field_names(Flag) if name not in OWN_FIELDS]
RULE_FIELDS = [name for name in field_names(Rule) if name not in OWN_FIELDS]
SEGMENT_FIELDS = [name for name in field_names(Segment) if name not in OWN_FIELDS]


def properties(schema: str) -> set[str]:
    """The fields of a schema, or of all of its cases."""
    cases = [each["$ref"].rpartition("/")[2] for each in SCHEMAS[schema].get("oneOf", ())]
    return set(SCHEMAS[schema].get("properties", ())).union(*map(properties, cases))


def changeable(schema: str) -> set[str]:
    """The fields of an update that it does not ignore."""
    return {name for name, each in SCHEMAS[schema]["properties"].items() if not each.get("readOnly")}


@pytest.mark.parametrize("kind", RESOURCES)
def test_the_audit_trail_records_each_field_but_for_secrets(kind: str) -> None:
    names = {each.name for each in fields(RESOURCES[kind])}
    assert names - recorded(RESOURCES[kind]).keys() == NOT_RECORDED.get(kind, set())


@pytest.mark.parametrize("kind", SHOWN)
def test_a_response_has_each_field_that_is_not_shown_otherwise(kind: str) -> None:
    names = {each.name for each in fields(KINDS[kind])}
    assert names - properties(SHOWN[kind]) == SHOWN_OTHERWISE.get(kind, set())


@pytest.mark.parametrize("shown", UPDATES)
def test_an_update_takes_or_ignores_each_field_of_the_response(shown: str) -> None:
    assert properties(shown) - properties(UPDATES[shown]) == set()


@pytest.mark.parametrize("update", NEW)
def test_what_can_be_changed_can_be_given_when_the_resource_is_created(update: str) -> None:
    new, only_later = NEW[update]
    assert changeable(update) - properties(new) == only_later


def test_steps_of_releases_change_each_field_of_a_flag_and_of_a_rule() -> None:
    assert properties("Changes") == changeable("FlagUpdate") - {"key"} | {"rules"}
    assert properties("RuleEdit") >= changeable("RuleUpdate")


def test_drafts_have_each_field_of_a_flag_and_of_a_rule() -> None:
    assert properties("FlagDraft") == properties("FlagUpdate") | {"rules"}
    assert properties("RuleDraft") == properties("RuleUpdate")


@pytest.mark.parametrize("name", FLAG_FIELDS)
def test_each_field_of_a_flag_is_compared_and_copied(name: str) -> None:
    if name in {"key", "archived_at"}:
        return  # flags with one key are compared, and none that is archived
    target = make_flag(rollout_percentage=20)
    origin = Side(altered(target, name), [])
    assert [each.field for each in Comparison(target.key, origin, Side(target, [])).fields] == [name]
    new = new_flag(origin.flag, uuid4(), uuid4(), AT)
    for before in (target, None):
        copied = copied_flag(origin, before, list(Part), new)
        assert getattr(copied, name) == getattr(origin.flag, name)


@pytest.mark.parametrize("name", DETAILS)
def test_each_detail_of_a_flag_is_in_a_new_copy_and_only_a_name_or_a_description_is_a_change_of_what_it_does(
    name: str,
) -> None:
    origin = altered(make_flag(), name)
    assert getattr(new_flag(origin, uuid4(), uuid4(), AT), name) == getattr(origin, name)
    assert (name in CARE) == (name not in {"name", "description"})


@pytest.mark.parametrize("name", RULE_FIELDS)
def test_each_field_of_a_rule_is_compared_and_copied(name: str) -> None:
    rule = make_rule(make_flag())
    other = altered(rule, name)
    assert not same_rule(rule, other)
    assert same_rule(rule_like(other, uuid4(), uuid4(), AT), other)


@pytest.mark.parametrize(
    ("resource", "name"),
    [
        *((make_flag(), name) for name in FLAG_FIELDS),
        *((make_rule(make_flag()), name) for name in RULE_FIELDS),
        *((make_segment(), name) for name in SEGMENT_FIELDS),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_each_field_is_restored_from_the_audit_trail(resource: Any, name: str) -> None:
    before = altered(resource, name)
    change = change_of(ACTOR, "flag.updated", AT, Scope(), before=before, after=resource)
    assert values_before(change, recorded(resource), if_unchanged=True) == {name: getattr(before, name)}
    assert read_resource(type(resource), recorded(before)) == before
