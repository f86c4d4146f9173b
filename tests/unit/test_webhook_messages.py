"""The bodies of messages, their signatures, and the times of attempts."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args
from uuid import UUID

import pytest

import flagstaff
from flagstaff.audit.changes_routes import Action
from flagstaff.changes import actions
from flagstaff.changes.changes import COMMAND_LINE, Actor, Change, NumberedChange, Scope
from flagstaff.hooks import notices
from flagstaff.hooks.deliveries import ATTEMPTS_MAX, RETRY_SECONDS, next_attempt
from flagstaff.hooks.messages import BODY_MAX_BYTES, Event, NamedProject, compose
from flagstaff.hooks.notices import PROJECT_NOTICES, Notice, NoticeType
from flagstaff.hooks.signing import sign
from flagstaff.hooks.webhooks import (
    INSTANCE_EVENTS,
    INSTANCE_PATTERNS,
    PROJECT_EVENTS,
    PROJECT_PATTERNS,
    Format,
    check_events,
)
from flagstaff.projects.projects import Environment

AT = datetime(2026, 11, 20, 10, tzinfo=UTC)
ID = UUID("01a1fb68-78d6-72a0-9594-54797a0c2450")
PROJECT = NamedProject(ID, "Shop <!channel>")
PRODUCTION = Environment(ID, ID, "Production", "production", AT, critical=True)
ADA = Actor(ID, "ada@example.com")
# Texts that a person could write into a flag's name so that it looks like something else in a chat.
HOSTILE = '<!channel> @everyone <@U123> [a](http://evil) **b** `c` <at>all</at> & "d"'


def event(action: str = "flag.updated", *, count: int = 1, actor: Actor = ADA, dropped: int = 0, **after: Any) -> Event:
    before = {"id": str(ID), "name": "Old", "enabled": False, "updated_at": "1"}
    change = Change(AT, actor, action, ID, Scope(ID, ID, ID, "checkout"), before, {**before, "name": HOSTILE} | after)
    changes = [NumberedChange(number, change) for number in range(1, count + 1)]
    return Event(
        AT,
        "https://flags.example.com/x",
        changes=changes,
        project=PROJECT,
        environment=PRODUCTION,
        revision=7,
        dropped=dropped,
    )


def composed(form: Format, given: Event) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(compose(given, form))
    return parsed


def test_a_message_has_the_members_of_standard_webhooks() -> None:
    message = composed(Format.STANDARD, event())
    assert set(message) == {"type", "timestamp", "data"}
    assert (message["type"], message["timestamp"]) == ("flag.updated", "2026-11-20T10:00:00.000000Z")
    assert message["data"]["environment"] == {
        "id": str(ID),
        "key": "production",
        "name": "Production",
        "critical": True,
    }
    assert message["data"]["actor"] == {"id": str(ID), "email": "ada@example.com", "token": None, "release": None}


def test_a_message_is_never_longer_than_its_bound() -> None:
    for length in (1, 9_000, 10_000, 100_000):
        body = compose(event(description="x" * length), Format.STANDARD)
        assert len(body) <= BODY_MAX_BYTES
        assert json.loads(body)["data"]["truncated"] == (length >= 100_000 or len(body) < length)


def test_in_slack_what_people_write_is_plain_text() -> None:
    message = composed(Format.SLACK, event())
    assert not any(mark in message["text"] for mark in ("<", ">", "@e"))
    texts = [block["text"] for block in message["blocks"] if block["type"] == "section"]
    texts += [element for block in message["blocks"] if block["type"] == "context" for element in block["elements"]]
    assert {each["type"] for each in texts} == {"plain_text"}
    assert all(each["emoji"] is False for each in texts)
    assert "mrkdwn" not in json.dumps(message)


def test_in_teams_what_people_write_is_runs_of_text() -> None:
    (attachment,) = composed(Format.TEAMS, event())["attachments"]
    blocks = attachment["content"]["body"]
    assert {block["type"] for block in blocks} == {"RichTextBlock"}
    assert {run["type"] for block in blocks for run in block["inlines"]} == {"TextRun"}
    assert "msteams" not in attachment["content"]


def test_in_discord_nothing_is_a_mention_or_markdown() -> None:
    message = composed(Format.DISCORD, event())
    assert message["allowed_mentions"] == {"parse": []}
    description = message["embeds"][0]["description"]
    assert "\\*\\*b\\*\\*" in description
    assert "\\[a\\]\\(http\\:" in description
    assert "content" not in message


@pytest.mark.parametrize("form", [Format.SLACK, Format.TEAMS, Format.DISCORD])
def test_what_people_write_controls_neither_lines_nor_the_direction_of_text(form: Format) -> None:
    hostile = "one\ntwo\x1b[1m\u202eowt\u2066\x85"
    project, environment = NamedProject(ID, hostile), replace(PRODUCTION, name=hostile)
    given = replace(event(name=hostile), project=project, environment=environment)
    text = json.dumps(composed(form, given), ensure_ascii=False)
    assert not set("\x1b\x85\u202e\u2066") & set(text)
    assert "one two" in text
    assert "\\u00" not in text


@pytest.mark.parametrize("form", [Format.SLACK, Format.TEAMS, Format.DISCORD])
def test_people_read_who_did_what_where(form: Format) -> None:
    text = json.dumps(
        composed(form, event("flag.toggled", enabled=True, name="Checkout", dropped=3)), ensure_ascii=False
    )
    assert "turned on Checkout" in text
    assert "Production" in text
    assert "critical" in text
    assert "https://flags.example.com/x" in text
    assert "3 earlier messages were dropped" in text
    many = json.dumps(composed(form, event(count=30, name="Checkout")))
    assert "changed 30 resources at once" in many
    assert len(many) < BODY_MAX_BYTES
    assert "The command line" in json.dumps(composed(form, event(actor=COMMAND_LINE)))
    assert "test message" in json.dumps(composed(form, Event(AT, "https://x")))


@pytest.mark.parametrize("form", [Format.SLACK, Format.TEAMS, Format.DISCORD])
def test_people_read_that_a_percentage_of_0_means_everyone(form: Format) -> None:
    def told(**after: Any) -> str:
        return json.dumps(composed(form, event(**after)), ensure_ascii=False).replace("\\", "")

    assert "→ 0 (everyone)" in told(rollout_percentage=0, fallthrough="rollout")
    only_rules = told(rollout_percentage=0, fallthrough="off")
    assert "everyone)" not in only_rules
    assert "→ off (only users whom a rule matches)" in only_rules


@pytest.mark.parametrize("form", [Format.SLACK, Format.TEAMS, Format.DISCORD])
def test_people_read_that_a_rule_for_attributes_and_a_segment_without_conditions_are_for_everyone(form: Format) -> None:
    def told(**after: Any) -> str:
        return json.dumps(composed(form, event(**after)), ensure_ascii=False).replace("\\", "")

    assert "→ [] (everyone)" in told(conditions=[], rule_type="attributes")
    assert "→ [] (everyone)" in told(conditions=[])
    assert "(everyone)" not in told(conditions=[], rule_type="user_id")


@pytest.mark.parametrize("kind", NoticeType)
def test_people_and_programs_read_what_the_server_noticed(kind: NoticeType) -> None:
    details: dict[str, Any] = {"instance": "eu-1", "seconds": 12, "changes": 3, "waiting": 1200}
    if kind in PROJECT_NOTICES:
        flags = [{"key": f"{number}-{'k' * 250}", "name": "ü" * 255, "reasons": ["unchanged"]} for number in range(50)]
        details = {"count": 60, "flags": flags}
    given = Event(AT, "https://flags.example.com/x", notice=Notice(1, kind, ID, ID, AT, details), project=PROJECT)
    message = composed(Format.STANDARD, given)
    assert (message["type"], message["data"]["actor"], message["data"]["after"]) == (kind, None, None)
    assert message["data"]["notice"].get("instance", details.get("count")) in ("eu-1", 60)
    assert len(compose(given, Format.STANDARD)) <= BODY_MAX_BYTES
    for form in (Format.SLACK, Format.TEAMS, Format.DISCORD):
        body = compose(given, form)
        assert len(body) <= BODY_MAX_BYTES
        assert ("and 55 more flags" if kind in PROJECT_NOTICES else "eu") in body.decode()


def test_a_signature_is_that_of_the_specification() -> None:
    # The example in the specification of Standard Webhooks.
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    signature = sign([secret], "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert sign([secret, secret], "a", 1, b"").split() == sign([secret], "a", 1, b"").split() * 2


def test_attempts_follow_the_schedule_and_end() -> None:
    for attempts, seconds in enumerate(RETRY_SECONDS, 1):
        times = [next_attempt(AT, attempts, None) for _ in range(50)]
        assert all(0.9 * seconds <= (each - AT).total_seconds() <= 1.1 * seconds for each in times if each)
        assert len(set(times)) > 1
    assert next_attempt(AT, ATTEMPTS_MAX, None) is None
    assert next_attempt(AT, 1, 3600) == AT + timedelta(hours=1)
    assert next_attempt(AT, 1, 1e9) == AT + timedelta(days=1)


@pytest.mark.parametrize("given", [["flag"], ["flag."], ["*.created"], ["flag.*.x"], [""], ["webhook.test"]])
def test_what_is_no_type_of_event_is_refused(given: list[str]) -> None:
    with pytest.raises(ValueError, match="is not a type of event"):
        check_events(given, PROJECT_PATTERNS)


def test_types_are_accepted_alone_by_resource_and_all() -> None:
    given = ["*", "flag.*", *PROJECT_EVENTS]
    assert check_events(given, PROJECT_PATTERNS) == tuple(given)
    assert check_events(["account.*", "instance.updated"], INSTANCE_PATTERNS) == ("account.*", "instance.updated")


def test_each_action_of_the_audit_trail_is_a_type_of_event() -> None:
    assert {*get_args(Action), "project.deleted"} == set(PROJECT_EVENTS) - {*NoticeType}
    sources = "\n".join(each.read_text() for each in Path(flagstaff.__file__).parent.rglob("*.py"))
    for declared in (actions, notices):
        sources = sources.replace(Path(str(declared.__file__)).read_text(), "")
    of_instances = set(re.findall(r'"((?:account|instance)\.[a-z_]+)"', sources))
    of_instances |= {f"account.{verb}" for verb in ("promoted", "demoted", "deactivated", "reactivated")}
    assert of_instances == set(INSTANCE_EVENTS) - set(PROJECT_EVENTS) - {*NoticeType}
