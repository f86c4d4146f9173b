"""The bodies of messages: events of Standard Webhooks, and messages of chats.

What people have written, such as the name of a flag, is text in every form: it can neither mention anyone nor look
like something else.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from flagstaff.audit.changes import OWN_FIELDS, Actor, NumberedChange
from flagstaff.hooks.webhooks import TEST_EVENT, Format
from flagstaff.projects.projects import Environment, Project
from flagstaff.values.moments import format_moment

BODY_MAX_BYTES = 20_000
_SHOWN_FIELDS = 5
_SHOWN_CHARACTERS = 120
_markdown = re.compile(r"([\\`*_{}\[\]()#+\-.!|~<>@:])")


@dataclass(frozen=True, slots=True)
class Event:
    """What a message tells: one change, or several that were made together in one environment.

    `project` and `environment` are None where the changes are in none, or in one that was deleted. `link` leads to the
    dashboard. `revision` is the one that has the changes, if they affect evaluations. `dropped` counts messages before
    this one that were never sent.
    """

    changes: Sequence[NumberedChange]
    at: datetime
    project: Project | None
    environment: Environment | None
    revision: int | None
    link: str
    dropped: int = 0

    @property
    def type(self) -> str:
        """The type: the change's action, or the one that most of several changes have in common."""
        if not self.changes:
            return TEST_EVENT
        actions = [each.change.action for each in self.changes]
        return max(dict.fromkeys(actions), key=actions.count)


def compose(event: Event, form: Format) -> bytes:
    """The body of a message about an event, as JSON."""
    match form:
        case Format.STANDARD:
            return _compose_standard(event)
        case Format.SLACK:
            return _encode(_compose_slack(event))
        case Format.TEAMS:
            return _encode(_compose_teams(event))
        case Format.DISCORD:
            return _encode(_compose_discord(event))


def _encode(value: Mapping[str, Any]) -> bytes:
    return msgspec.json.encode(value)  # the states of a flag can have a megabyte, which takes it a millisecond


def _compose_standard(event: Event) -> bytes:
    """The message, without `before` and `after` if it would be too long with them."""
    data = _data(event)
    message = {"type": event.type, "timestamp": format_moment(event.at), "data": data}
    body = _encode(message)
    if len(body) > BODY_MAX_BYTES:
        data |= {"before": None, "after": None, "truncated": True}
        body = _encode(message)
    return body


def _data(event: Event) -> dict[str, Any]:
    change = event.changes[0].change if event.changes else None
    return {
        "id": str(event.changes[0].number) if event.changes else None,
        "actor": _actor(change.actor) if change else None,
        "project": event.project and {"id": str(event.project.id), "name": event.project.name},
        "environment": event.environment
        and {
            "id": str(event.environment.id),
            "key": event.environment.key,
            "name": event.environment.name,
            "critical": event.environment.critical,
        },
        "resource_id": str(change.resource_id) if change else None,
        "flag_key": change.scope.flag_key if change else None,
        "revision": event.revision,
        "before": change.before if change else None,
        "after": change.after if change else None,
        "truncated": False,
        "link": event.link,
        "dropped": event.dropped,
    }


def _actor(actor: Actor) -> dict[str, Any]:
    return {
        "id": str(actor.account_id) if actor.account_id else None,
        "email": actor.email,
        "token": {"id": str(actor.token.id), "name": actor.token.name} if actor.token else None,
    }


@dataclass(frozen=True, slots=True)
class _Words:
    """An event in words for people: a line, where it was, what was altered, and a note."""

    title: str
    place: str
    lines: Sequence[str]
    note: str


_VERBS = {
    "created": "created",
    "updated": "changed",
    "toggled": "switched",
    "archived": "archived",
    "unarchived": "brought back",
    "deleted": "deleted",
    "added": "added",
    "removed": "removed",
    "revoked": "revoked",
}


def _words(event: Event) -> _Words:
    place = " · ".join(each for each in (event.project and event.project.name, _environment_words(event)) if each)
    note = f"{event.dropped} earlier messages were dropped." if event.dropped else ""
    if not event.changes:
        return _Words("This is a test message from Flagstaff.", place, (), note)
    first = event.changes[0].change
    who = first.actor.email or "The command line"
    kind, _, verb = event.type.partition(".")
    if len(event.changes) > 1:
        names = [_name(each) for each in event.changes]
        title = f"{who} changed {len(names)} resources at once: {_shorten(', '.join(names))}"
        return _Words(title, place, (), note)
    if event.type == "flag.toggled":
        title = f"{who} turned {'on' if (first.after or {}).get('enabled') else 'off'} {_name(event.changes[0])}"
        return _Words(title, place, (), note)
    word = _VERBS.get(verb, verb.replace("_", " "))
    title = f"{who} {word} the {kind.replace('_', ' ')} {_name(event.changes[0])}"
    return _Words(title, place, _alterations(first.before, first.after), note)


def _environment_words(event: Event) -> str | None:
    if event.environment is None:
        return None
    return f"{event.environment.name} (critical)" if event.environment.critical else event.environment.name


def _name(numbered: NumberedChange) -> str:
    resource = numbered.change.after or numbered.change.before or {}
    for field in ("name", "email", "key", "rule_value", "host"):
        if isinstance(resource.get(field), str) and resource[field]:
            name: str = resource[field]
            break
    else:
        name = str(numbered.change.resource_id)
    key = numbered.change.scope.flag_key
    return _shorten(f"{name} ({key})" if key and key != name else name)


def _alterations(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> list[str]:
    if before is None or after is None:
        return []
    names = [name for name in after if name not in OWN_FIELDS and before.get(name) != after[name]]
    lines = [f"{name}: {_show(before.get(name))} → {_show(after[name])}" for name in names[:_SHOWN_FIELDS]]
    return lines if len(names) <= _SHOWN_FIELDS else [*lines, f"and {len(names) - _SHOWN_FIELDS} more fields"]


def _show(value: Any) -> str:
    return _shorten(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _shorten(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _SHOWN_CHARACTERS else f"{plain[: _SHOWN_CHARACTERS - 1]}…"


def _compose_slack(event: Event) -> dict[str, Any]:
    """Blocks whose texts are plain, where Slack reads no mentions. The fallback is escaped, as Slack demands."""
    words = _words(event)
    text = "\n".join((words.title, *words.lines))
    blocks: list[dict[str, Any]] = [
        {"type": "section", "text": {"type": "plain_text", "text": text[:3000], "emoji": False}}
    ]
    details = [each for each in (words.place, words.note) if each]
    if details:
        elements = [{"type": "plain_text", "text": each[:2000], "emoji": False} for each in details]
        blocks.append({"type": "context", "elements": elements})
    button = {"type": "button", "text": {"type": "plain_text", "text": "Open in Flagstaff"}, "url": event.link}
    blocks.append({"type": "actions", "elements": [button]})
    escaped = words.title.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return {"text": escaped.replace("@", "@\u200b"), "blocks": blocks, "unfurl_links": False}


def _compose_teams(event: Event) -> dict[str, Any]:
    """An Adaptive Card for workflow webhooks. Its runs of text know no Markdown and no mentions."""
    words = _words(event)
    lines = [(words.title, True), *((line, False) for line in (*words.lines, words.place, words.note) if line)]
    body = [
        {
            "type": "RichTextBlock",
            "inlines": [{"type": "TextRun", "text": line, "weight": "Bolder" if is_title else "Default"}],
        }
        for line, is_title in lines
    ]
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": body,
        "actions": [{"type": "Action.OpenUrl", "title": "Open in Flagstaff", "url": event.link}],
    }
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": None, "content": card}
    return {"type": "message", "attachments": [attachment]}


def _compose_discord(event: Event) -> dict[str, Any]:
    """An embed with escaped Markdown; `allowed_mentions` lets nothing be a mention."""
    words = _words(event)
    description = "\n".join(_markdown.sub(r"\\\1", line) for line in (words.title, *words.lines))
    embed: dict[str, Any] = {"title": "Flagstaff", "url": event.link, "description": description[:4000]}
    footer = " · ".join(each for each in (words.place, words.note) if each)
    if footer:
        embed["footer"] = {"text": footer[:2000]}
    return {"embeds": [embed], "allowed_mentions": {"parse": []}}
