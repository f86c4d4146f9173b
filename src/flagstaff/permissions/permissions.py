"""Permissions: who may do what in a project. All checks are made here, by the one table.

A member has a role in the project, and may have other roles in some of its environments:

- What concerns one environment needs the permission in that environment.
- What concerns the whole project needs it everywhere, in the project and in each environment with its own role: a
  change to a segment or to the project's SDK key takes effect in all of them, and whoever manages members could lift
  any restriction.

An access token acts as the member that its account is, within limits: it never has a permission that its account does
not have at the moment.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from flagstaff.permissions.members import Member, Role
from flagstaff.values.errors import Code, Error, forbidden, not_found


class Permission(StrEnum):
    """A permission that a role can include."""

    PROJECT_READ = "project:read"
    PROJECT_WRITE = "project:write"
    PROJECT_DELETE = "project:delete"
    ENVIRONMENTS_WRITE = "environments:write"
    SEGMENTS_WRITE = "segments:write"
    FLAGS_READ = "flags:read"
    FLAGS_WRITE = "flags:write"
    FLAGS_TOGGLE = "flags:toggle"
    RULES_WRITE = "rules:write"
    EVALUATIONS_READ = "evaluations:read"
    USERS_EXPORT = "users:export"
    USERS_ERASE = "users:erase"
    AUDIT_READ = "audit:read"
    COMMENTS_WRITE = "comments:write"
    COMMENTS_MODERATE = "comments:moderate"
    KEYS_READ = "keys:read"
    KEYS_ROTATE = "keys:rotate"
    WEBHOOKS_READ = "webhooks:read"
    WEBHOOKS_WRITE = "webhooks:write"
    MEMBERS_READ = "members:read"
    MEMBERS_WRITE = "members:write"
    OWNERS_WRITE = "owners:write"
    TOKENS_READ = "tokens:read"
    TOKENS_WRITE = "tokens:write"


MEANINGS: Mapping[Permission, str] = {
    Permission.PROJECT_READ: "see the project, its environments and its segments",
    Permission.PROJECT_WRITE: "change the name, the description and the settings of the project",
    Permission.PROJECT_DELETE: "delete the project",
    Permission.ENVIRONMENTS_WRITE: "create, rename and delete environments",
    Permission.SEGMENTS_WRITE: "create, change and delete segments and metrics",
    Permission.FLAGS_READ: "see flags and their rules",
    Permission.FLAGS_WRITE: "create, change, archive and delete flags",
    Permission.FLAGS_TOGGLE: "switch flags on and off with the toggle",
    Permission.RULES_WRITE: "create, change and delete rules",
    Permission.EVALUATIONS_READ: "see the evaluation history",
    Permission.USERS_EXPORT: "export everything that is stored about one user of the applications",
    Permission.USERS_ERASE: "erase what is stored about one user of the applications",
    Permission.AUDIT_READ: "see the audit trail",
    Permission.COMMENTS_WRITE: "comment on flags, releases and changes, and edit and delete own comments",
    Permission.COMMENTS_MODERATE: "delete the comments of others",
    Permission.KEYS_READ: "see the SDK keys; the project's own is for all environments",
    Permission.KEYS_ROTATE: "replace the project's SDK key, and create, change and revoke those of environments",
    Permission.WEBHOOKS_READ: "see the webhooks and what they were sent, together with `audit:read`",
    Permission.WEBHOOKS_WRITE: "create, change, delete and test webhooks, together with `audit:read`",
    Permission.MEMBERS_READ: "see the members and the invitations",
    Permission.MEMBERS_WRITE: "invite, change and remove members that are not owners",
    Permission.OWNERS_WRITE: "invite and make owners, and change and remove them",
    Permission.TOKENS_READ: "see the access tokens for the project",
    Permission.TOKENS_WRITE: "create and revoke access tokens for the project",
}

_VIEWER = frozenset(
    {
        Permission.PROJECT_READ,
        Permission.FLAGS_READ,
        Permission.EVALUATIONS_READ,
        Permission.AUDIT_READ,
        Permission.COMMENTS_WRITE,
        Permission.MEMBERS_READ,
    }
)
_EDITOR = _VIEWER | {
    Permission.SEGMENTS_WRITE,
    Permission.FLAGS_WRITE,
    Permission.FLAGS_TOGGLE,
    Permission.RULES_WRITE,
    Permission.KEYS_READ,
}
_ADMIN = _EDITOR | {
    Permission.COMMENTS_MODERATE,
    Permission.PROJECT_WRITE,
    Permission.ENVIRONMENTS_WRITE,
    Permission.KEYS_ROTATE,
    Permission.WEBHOOKS_READ,
    Permission.WEBHOOKS_WRITE,
    Permission.MEMBERS_WRITE,
    Permission.TOKENS_READ,
    Permission.TOKENS_WRITE,
    Permission.USERS_EXPORT,
}

PERMISSIONS: Mapping[Role, frozenset[Permission]] = {
    Role.OWNER: frozenset(Permission),
    Role.ADMIN: _ADMIN,
    Role.EDITOR: _EDITOR,
    Role.VIEWER: _VIEWER,
}


Check = tuple[UUID, Permission | None, str | None]
"""A project, and what was needed there: in the environment with this key, or without one, in the whole project.

Without a permission, to be a member.
"""

_noted: ContextVar[set[Check] | None] = ContextVar("checks that are noted", default=None)


@contextmanager
def noting_checks() -> Iterator[set[Check]]:
    """Collect the checks that are passed inside, so that they can be made again later."""
    checks: set[Check] = set()
    token = _noted.set(checks)
    try:
        yield checks
    finally:
        _noted.reset(token)


def record_check(project_id: UUID, permission: Permission | None = None, environment: str | None = None) -> None:
    """Note a check. `require` does so itself; the creation of a project has nothing yet that it could check."""
    checks = _noted.get()
    if checks is not None:
        checks.add((project_id, permission, environment))


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of an access token: permissions, a project and environments; None means all."""

    permissions: frozenset[Permission]
    project_id: UUID | None = None
    environment_ids: frozenset[UUID] | None = None


@dataclass(frozen=True, slots=True)
class LimitedMember(Member):
    """A member as an access token of its account: with some permissions, in the environments with these keys or in all.

    A token for some environments changes and reads nothing that concerns the whole project, but for the project itself:
    every member sees all environments.
    """

    permissions: frozenset[Permission]
    only_in: frozenset[str] | None

    def allows(self, permission: Permission, environment: str | None) -> bool:
        """Return whether the token has a permission in the environment with this key, or in the whole project."""
        is_within = self.only_in is None or environment in self.only_in or permission is Permission.PROJECT_READ
        return permission in self.permissions and is_within


def may(member: Member, permission: Permission, environment: str | None = None) -> bool:
    """Return whether a member has a permission in the environment with this key; None is the whole project."""
    if isinstance(member, LimitedMember) and not member.allows(permission, environment):
        return False
    if environment is not None:
        return permission in PERMISSIONS[member.environments.get(environment, member.role)]
    return all(permission in PERMISSIONS[role] for role in (member.role, *member.environments.values()))


def shown_flags(member: Member, keys: str) -> str:
    """The keys of flags in a message for a member that may do something else than see flags."""
    return keys if may(member, Permission.FLAGS_READ) else f"not shown without {Permission.FLAGS_READ}"


def require(member: Member | None, permission: Permission, environment: str | None = None) -> Member:
    """Return the member if it has the permission in the environment with this key, or in the whole project.

    Raises:
        Error: NOT_FOUND without a member, whether or not the project exists; FORBIDDEN, which names the permission.
    """
    if member is None:
        raise not_found("project")
    if not may(member, permission, environment):
        raise forbidden(permission, f"in the environment {environment}" if environment else "in the whole project")
    record_check(member.project_id, permission, environment)
    return member


def require_anywhere(member: Member, permission: Permission, environments: Iterable[str]) -> None:
    """Raise Error FORBIDDEN unless the member has the permission in an environment or in the whole project."""
    if not may(member, permission) and not any(may(member, permission, key) for key in environments):
        raise forbidden(permission, "in at least one environment")


def require_of_token(limits: Limits | None, permission: Permission) -> None:
    """Raise Error FORBIDDEN, which names the permission, for an access token that has it nowhere."""
    if limits is not None and permission not in limits.permissions:
        raise forbidden(permission, "in the whole project")


def require_project_creation(limits: Limits | None) -> None:
    """Refuse the creation of a project, which no project decides, to an access token that is not for all of them.

    Raises:
        Error: FORBIDDEN, which says which token works.
    """
    if limits is None:
        return
    needed = Permission.PROJECT_WRITE
    if limits.project_id is not None:
        reason = "it is for one project"
    elif limits.environment_ids is not None:
        reason = "it is for some environments only"
    elif needed not in limits.permissions:
        reason = f"it does not have the permission {needed}"
    else:
        return
    raise Error(
        Code.FORBIDDEN,
        f"This access token cannot create projects, because {reason}. Use a personal access token (POST "
        f"/api/me/tokens) with the permission {needed} and without environments, or log in.",
        extensions={"permission": needed},
    )


@dataclass(frozen=True, slots=True)
class OwnPermissions:
    """The permissions of a member in the whole project, and in each of its environments by key."""

    member: Member
    permissions: list[Permission]
    environments: Mapping[str, list[Permission]]


def own_permissions(member: Member, environments: Iterable[str]) -> OwnPermissions:
    """The permissions of a member in a project with environments of these keys."""
    return OwnPermissions(
        member,
        [each for each in Permission if may(member, each)],
        {key: [each for each in Permission if may(member, each, key)] for key in environments},
    )


def may_grant(member: Member, role: Role) -> bool:
    """Return whether a member may give and take a role: only owners make owners."""
    return may(member, _needed_to_grant(role))


def require_grant(member: Member, *roles: Role) -> None:
    """Raise Error FORBIDDEN unless the member may give and take these roles."""
    for role in roles:
        require(member, _needed_to_grant(role))


def _needed_to_grant(role: Role) -> Permission:
    return Permission.OWNERS_WRITE if role is Role.OWNER else Permission.MEMBERS_WRITE
