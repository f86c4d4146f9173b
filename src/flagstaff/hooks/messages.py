"""The bodies of messages: events of Standard Webhooks, and messages of chats.

What people have written, such as the name of a flag, is text in every form: it can neither mention anyone nor look
like something else.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from flagstaff.audit.wording import SHOWN_FIELDS, say_alterations, say_name, say_what, say_who, shorten
from flagstaff.changes.changes import Actor, NumberedChange
from flagstaff.hooks.notices import Notice, NoticeType
from flagstaff.hooks.webhooks import TEST_EVENT, Format
from flagstaff.projects.projects import Environment
from flagstaff.values.moments import format_moment

BODY_MAX_BYTES = 20_000
_SHOWN_FLAGS = 20
_markdown = re.compile(r"([\\`*_{}\[\]()#+\-.!|~<>@:])")


class NamedProject(NamedTuple):
    """A project, which may have been deleted."""

    id: UUID
    name: str


@dataclass(frozen=True, slots=True)
class Event:
    """The content of a message: one change, several that were made together in one environment, a notice, or nothing.

    `project` and `environment` are None where it is about none; those that were deleted are as they were. `link` leads
    to the dashboard. `revision` is the one that has the changes, if they affect evaluations. `dropped` counts messages
    before this one that were never sent. `is_withheld` says that what only members of the project read was left out.
    """

    at: datetime
    link: str
    changes: Sequence[NumberedChange] = ()
    notice: Notice | None = None
    project: NamedProject | None = None
    environment: Environment | None = None
    revision: int | None = None
    dropped: int = 0
    is_withheld: bool = False

    @property
    def type(self) -> str:
        """The type: the notice's, the change's action, or the one that most of several changes have in common."""
        if self.notice is not None:
            return self.notice.type
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
        data |= {"before": None, "after": None, "notice": _shortened(data["notice"]), "truncated": True}
        body = _encode(message)
    return body


def _shortened(details: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """A notice with only the keys of its first flags."""
    if details is None:
        return None
    return {**details, "flags": [{"key": each["key"]} for each in details.get("flags", ())[:_SHOWN_FLAGS]]}


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
            "name": None if event.is_withheld else event.environment.name,
            "critical": None if event.is_withheld else event.environment.critical,
        },
        "resource_id": str(change.resource_id) if change else None,
        "flag_key": change.scope.flag_key if change else None,
        "revision": event.revision,
        "before": change.before if change else None,
        "after": change.after if change else None,
        "notice": event.notice.details if event.notice else None,
        "truncated": False,
        "withheld": event.is_withheld,
        "link": event.link,
        "dropped": event.dropped,
    }


def _actor(actor: Actor) -> dict[str, Any]:
    return {
        "id": str(actor.account_id) if actor.account_id else None,
        "email": actor.email,
        "token": {"id": str(actor.token.id), "name": actor.token.name} if actor.token else None,
        "release": actor.release
        and {"id": str(actor.release.id), "name": actor.release.name, "guard": actor.release.guard},
    }


@dataclass(frozen=True, slots=True)
class _Words:
    """An event in words for people: a line, what was altered, where it was, and a note."""

    title: str
    lines: Sequence[str]
    place: str
    note: str


def _words(event: Event) -> _Words:
    place = " · ".join(
        each for each in (event.project and shorten(event.project.name), _environment_words(event)) if each
    )
    note = f"{event.dropped} earlier messages were dropped." if event.dropped else ""
    if event.notice is not None:
        return _Words(*_notice_words(event.notice), place, note)
    if not event.changes:
        return _Words("This is a test message from Flagstaff.", (), place, note)
    first = event.changes[0].change
    if len(event.changes) > 1:
        names = ", ".join(say_name(each.change) for each in event.changes)
        title = f"{say_who(first)} changed {len(event.changes)} resources at once: {shorten(names)}"
        return _Words(title, (), place, note)
    lines = () if event.type == "flag.toggled" else say_alterations(first.before, first.after)
    return _Words(say_what(first), lines, place, note)


def _environment_words(event: Event) -> str | None:
    if event.environment is None:
        return None
    name = shorten(event.environment.name)
    return f"{name} (critical)" if event.environment.critical else name


def _notice_words(notice: Notice) -> tuple[str, Sequence[str]]:
    details = notice.details
    flags = details.get("flags", ())
    count, name = details.get("count", 0), shorten(str(details.get("instance", "")))
    match notice.type:
        case NoticeType.FLAG_STALE:
            title = "A flag may be removed." if count == 1 else f"{count} flags may be removed."
            return title, _flag_lines(flags, count, lambda each: ", ".join(map(_spaced, each.get("reasons", ()))))
        case NoticeType.FLAG_MISSING:
            title = "Applications request a flag that does not exist."
            if count != 1:
                title = f"Applications request {count} flags that do not exist."
            return title, _flag_lines(flags, count, lambda each: "archived" if each.get("archived") else "")
        case NoticeType.INSTANCE_LAGGING:
            if details.get("seconds") is None:
                return f"The instance {name} does not respond any more.", ()
            return f"The instance {name} is {details['seconds']} seconds behind the newest change.", ()
        case NoticeType.INSTANCE_RECOVERED:
            return f"The instance {name} serves the newest changes again, or has been stopped.", ()
        case NoticeType.HISTORY_BEHIND:
            waiting = details.get("waiting", 0)
            return f"The history of {name} falls behind: {waiting:,} evaluations wait to be written.", ()
        case NoticeType.HISTORY_RECOVERED:
            return f"The history of {name} is being written again.", ()


def _flag_lines(
    flags: Sequence[Mapping[str, Any]], count: int, say_more: Callable[[Mapping[str, Any]], str]
) -> list[str]:
    lines = []
    for each in flags[:SHOWN_FIELDS]:
        more = say_more(each)
        lines.append(shorten(f"{each['key']}: {more}" if more else each["key"]))
    return lines if count <= SHOWN_FIELDS else [*lines, f"and {count - SHOWN_FIELDS} more flags"]


def _spaced(reason: str) -> str:
    return reason.replace("_", " ")


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
