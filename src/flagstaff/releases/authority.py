"""The authority of a release: it acts with the right of its author, and of the token that its author has used.

Without it, the release pauses until somebody resumes it. Guards and thresholds need none: they act also then.
"""

from typing import NamedTuple

from flagstaff.changes.changes import DELETED_ACCOUNT
from flagstaff.permissions.members import Role
from flagstaff.permissions.permissions import PERMISSIONS, Permission
from flagstaff.releases.releases import Release


class Authority(NamedTuple):
    """The rights of a release's author in its environment: the role there, None if it is no member.

    `has_token` and `is_token_valid` are also true of a release that was made without a token.
    """

    is_active: bool
    role: Role | None
    has_token: bool
    is_token_valid: bool
    meets_demand: bool


def say_loss(release: Release, authority: Authority) -> str | None:
    """Say why a release may not act for its author any more; None if it may."""
    loss = _find_loss(release, authority)
    return f"{loss} It acts for whoever resumes it." if loss is not None else None


def _find_loss(release: Release, authority: Authority) -> str | None:
    who = f"{release.author_email}, for whom this release acts,"
    token = f"The access token {release.token_name} of {release.author_email}, with which this release acts,"
    if release.author_email == DELETED_ACCOUNT:
        return "The account for which this release acts was deleted."
    if not authority.is_active:
        return f"The account of {release.author_email}, for whom this release acts, was deactivated."
    if authority.role is None:
        return f"{who} is not a member of the project any more."
    needed = {Permission.FLAGS_WRITE, *([Permission.RULES_WRITE] if release.remaining.changes_rules else ())}
    if not needed <= PERMISSIONS[authority.role]:
        return f"{who} may not make its changes any more."
    if not authority.has_token:
        return f"{token} was revoked."
    if not authority.is_token_valid:
        return f"{token} has expired."
    if not authority.meets_demand:
        return f"{who} has no second factor, which the project demands."
    return None
