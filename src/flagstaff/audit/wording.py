"""Changes in words for people, as messages and mails have them. Names are as people wrote them: text, and no markup."""

import json
from collections.abc import Mapping
from typing import Any

from flagstaff.changes.changes import OWN_FIELDS, Change

SHOWN_FIELDS = 5
SHOWN_CHARACTERS = 120
_READ_CHARACTERS = 1000
# Those that turn the direction of what follows could make a message read as another.
_CONTROLS = dict.fromkeys(
    [*range(0x20), *range(0x7F, 0xA0), 0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
)
_encoder = json.JSONEncoder(ensure_ascii=False)
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
    "step_applied": "applied a step of",
    "step_skipped": "skipped a late step of",
    "warned": "raised an alarm in",
    "unwatched": "cannot watch",
    "watched": "watches again",
    "done": "finished",
    "failed": "could not continue",
}
_NAMING = ("name", "email", "key", "rule_value", "host", "author_email")


def say_what(change: Change) -> str:
    """The change in one phrase, such as `ada@example.com turned on New checkout (new-checkout)`."""
    who, kind, verb = say_who(change), *change.action.split(".", 1)
    if change.action == "flag.toggled" and change.after is not None:
        return f"{who} turned {'on' if change.after.get('enabled') else 'off'} {say_name(change)}"
    word = _VERBS.get(verb, verb.replace("_", " "))
    return f"{who} {word} the {kind.replace('_', ' ')} {say_name(change)}"


def say_who(change: Change) -> str:
    """Name the author of a change: an account, a release, or a guard, which acts for the release."""
    release = change.actor.release
    if release is None:
        return change.actor.email or "The command line"
    if release.guard is not None:
        return f"The guard for {release.guard}"
    return f"The release {shorten(release.name)}" if release.name else "A release"


def say_name(change: Change) -> str:
    """The name of the changed resource, with the key of its flag."""
    resource = change.after or change.before or {}
    names = (resource.get(field) for field in _NAMING)
    key = change.scope.flag_key
    unnamed = key if key and change.resource_id == change.scope.flag_id else str(change.resource_id)
    name = next((each for each in names if isinstance(each, str) and each), unnamed)
    return shorten(f"{name} ({key})" if key and key != name else name)


def say_alterations(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> list[str]:
    """A line for each of the first fields that were altered, with the values before and after."""
    if before is None or after is None:
        return []
    names = [name for name in after if name not in OWN_FIELDS and before.get(name) != after[name]]
    lines = [f"{name}: {_show_field(before, name)} → {_show_field(after, name)}" for name in names[:SHOWN_FIELDS]]
    return lines if len(names) <= SHOWN_FIELDS else [*lines, f"and {len(names) - SHOWN_FIELDS} more fields"]


def shorten(text: str) -> str:
    """A text in one line, without characters that control its display, and cut where it is long."""
    plain = " ".join(text.split()).translate(_CONTROLS)
    return plain if len(plain) <= SHOWN_CHARACTERS else f"{plain[: SHOWN_CHARACTERS - 1]}…"


def _show_field(resource: Mapping[str, Any], name: str) -> str:
    """A value, with what it means if people take it for something else."""
    value = resource.get(name)
    if name == "rollout_percentage" and value == 0 and resource.get("fallthrough") != "off":
        return "0 (everyone)"
    if name == "conditions" and value == [] and resource.get("rule_type", "attributes") == "attributes":
        return "[] (everyone)"  # also of a segment, which has no type
    if name == "fallthrough" and value == "off":
        return "off (only users whom a rule matches)"
    return _show(value)


def _show(value: Any) -> str:
    """The beginning of a value. A value can have half a megabyte, which would take long to write."""
    if isinstance(value, str):
        return shorten(value[:_READ_CHARACTERS])
    text = ""
    for part in _encoder.iterencode(value):
        text += part[:_READ_CHARACTERS]
        if len(text) >= _READ_CHARACTERS:
            break
    return shorten(text)
