"""Bulk actions: the same change to many flags of an environment. Those that need no change stay untouched."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum

from flagstaff.flags.flags import TAGS_MAX, Flag
from flagstaff.permissions.permissions import Permission
from flagstaff.values.errors import invalid_field
from flagstaff.values.text import name_some

FLAGS_MAX = 200
_NAMED = 5


class BulkAction(StrEnum):
    """An action on many flags at once."""

    ENABLE = "enable"
    DISABLE = "disable"
    ARCHIVE = "archive"
    ADD_TAGS = "add_tags"
    REMOVE_TAGS = "remove_tags"

    @property
    def takes_tags(self) -> bool:
        """True if it needs tags."""
        return self in (BulkAction.ADD_TAGS, BulkAction.REMOVE_TAGS)

    @property
    def permission(self) -> Permission:
        """The permission that it needs in the environment."""
        return Permission.FLAGS_TOGGLE if self in (BulkAction.ENABLE, BulkAction.DISABLE) else Permission.FLAGS_WRITE

    @property
    def recorded_as(self) -> str:
        """The action that the audit trail has for each flag."""
        if self is BulkAction.ARCHIVE:
            return "flag.archived"
        return "flag.updated" if self.takes_tags else "flag.toggled"


def check_action_tags(action: BulkAction, tags: Sequence[str]) -> None:
    """Raise Error INVALID unless there are tags if, and only if, the action takes them."""
    if action.takes_tags and not tags:
        raise invalid_field("tags", f"must have at least one tag for {action}")
    if tags and not action.takes_tags:
        raise invalid_field("tags", f"must be left out for {action}")


def after_action(flag: Flag, action: BulkAction, tags: Sequence[str], now: datetime) -> Flag:
    """Return the flag after an action; an equal flag if it needs no change."""
    match action:
        case BulkAction.ENABLE | BulkAction.DISABLE:
            return replace(flag, enabled=action is BulkAction.ENABLE)
        case BulkAction.ARCHIVE:
            return replace(flag, archived_at=flag.archived_at or now)
        case BulkAction.ADD_TAGS:
            return replace(flag, tags=(*flag.tags, *(tag for tag in tags if tag not in flag.tags)))
        case BulkAction.REMOVE_TAGS:
            return replace(flag, tags=tuple(tag for tag in flag.tags if tag not in tags))


def reason_against(before: Flag, after: Flag, users: Mapping[str, Collection[str]]) -> str | None:
    """Return why an action cannot be applied to a flag; `users` has the flags that need it and stay, by its key."""
    if before.archived_at is not None:
        return None if after == before else f"{before.key} is archived. Unarchive it first."
    if len(after.tags) > max(TAGS_MAX, len(before.tags)):
        return f"{before.key} would have {len(after.tags)} tags, and a flag has at most {TAGS_MAX}."
    needing = sorted(users.get(before.key, ()))
    if after.archived_at is None or not needing:
        return None
    return (
        f"{before.key} is a prerequisite of {name_some(needing, _NAMED)}. Choose these as well, or remove it "
        "from their prerequisites first."
    )
