"""The actions of the audit trail, by the kind of resource: what is recorded, searched for, and sent to webhooks.

An action is `kind.verb`, such as `flag.toggled`. A new kind of resource has its line here and nowhere else.
"""

from collections.abc import Collection
from typing import NamedTuple

EVERYTHING = "*"
_WRITES = ("created", "updated", "deleted")


class Kind(NamedTuple):
    """The verbs of a kind of resource. Changes of one that is `evaluated` make snapshots load again."""

    verbs: tuple[str, ...]
    evaluated: bool = False


IN_PROJECTS = {
    "project": Kind((*_WRITES, "key_regenerated"), evaluated=True),
    "environment": Kind(("created", "updated", "reordered", "deleted"), evaluated=True),
    "flag": Kind(("created", "updated", "toggled", "archived", "unarchived", "deleted"), evaluated=True),
    "rule": Kind(_WRITES, evaluated=True),
    "segment": Kind(_WRITES, evaluated=True),
    "metric": Kind(_WRITES, evaluated=True),
    "release": Kind(
        (
            *("created", "step_applied", "step_skipped", "paused", "resumed"),
            *("warned", "unwatched", "watched", "stopped", "cancelled", "failed", "done"),
        )
    ),
    "comment": Kind(("deleted",)),
    "view": Kind(_WRITES),
    "pinned_chart": Kind(_WRITES),
    "sdk_key": Kind(("created", "updated", "revoked"), evaluated=True),
    "member": Kind(("added", "updated", "removed", "joined")),
    "invitation": Kind(("created", "sent", "accepted", "deleted")),
    "token": Kind(("created", "deleted")),
    "erasure": Kind(("requested",)),
    "webhook": Kind(("created", "updated", "secret_rotated", "disabled", "deleted")),
}
"""The kinds in a project."""

IN_NO_PROJECT = {
    "account": Kind(
        (
            *("registered", "email_verified", "password_changed", "password_reset", "session_ended"),
            *("totp_enabled", "totp_disabled", "passkey_added", "passkey_removed"),
            *("recovery_code_used", "recovery_codes_renewed", "two_factor_reset", "token_created", "token_deleted"),
            *("taken_over", "promoted", "demoted", "deactivated", "reactivated", "deleted"),
        )
    ),
    "instance": Kind(("updated", "webhook_previewed", "trail_deleted")),
}
"""The kinds of the instance, whose changes administrators see."""

_KINDS = IN_PROJECTS | IN_NO_PROJECT


def covers(events: Collection[str], action: str) -> bool:
    """Return whether events have an action: `flag.*` stands for all of flags, and `*` for all."""
    return not {EVERYTHING, action, f"{action.partition('.')[0]}.*"}.isdisjoint(events)


def actions_of(kind: str) -> tuple[str, ...]:
    """The actions of a kind of resource."""
    return tuple(f"{kind}.{verb}" for verb in _KINDS[kind].verbs)


PROJECT_ACTIONS = tuple(action for kind in IN_PROJECTS for action in actions_of(kind))
INSTANCE_ACTIONS = tuple(action for kind in IN_NO_PROJECT for action in actions_of(kind))
NOT_EVALUATED = frozenset(
    action for kind, declared in _KINDS.items() if not declared.evaluated for action in actions_of(kind)
) | {"environment.reordered"}
"""The actions that no evaluation depends on."""
