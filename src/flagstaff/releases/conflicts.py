"""Conflicts of a release: what others have changed that it changes too. Pure."""

from collections.abc import Sequence

from flagstaff.releases.flag_changes_store import MadeChange
from flagstaff.releases.releases import Release


def find_conflict(release: Release, made: Sequence[MadeChange]) -> str | None:
    """Say what somebody else has changed that the release changes too; None if nothing.

    Before its first step a release has changed nothing yet: only turning the flag off, or archiving it, counts then.
    """
    for each in made:
        if each.release_id == release.id:
            continue
        who = each.actor_email or "The command line"
        kind, _, verb = each.action.partition(".")
        if kind == "rule":
            if release.changes_rules and release.applied:
                return f"{who} changed a rule of the flag, and this release changes rules too."
            continue
        if kind != "flag":
            continue
        if verb == "archived":
            return f"{who} archived the flag."
        before, after = each.before or {}, each.after or {}
        if before.get("enabled") and not after.get("enabled"):
            return f"{who} turned the flag off."
        if not release.applied:
            continue
        fields = sorted(name for name in release.fields if before.get(name) != after.get(name))
        if fields:
            return f"{who} changed {', '.join(fields)}, which this release changes too."
    return None
