"""The authority of releases in the database: what their authors, and the tokens that they used, may do now."""

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables
from flagstaff.database.clock import DatabaseNow
from flagstaff.identity.second_factors.second_factors_store import has_factor
from flagstaff.permissions.members import Role
from flagstaff.permissions.permissions import PERMISSIONS, Permission
from flagstaff.releases.authority import Authority, say_loss
from flagstaff.releases.releases import Release

_columns, _accounts, _tokens = tables.releases.c, tables.accounts.c, tables.access_tokens.c
_members, _roles, _projects = tables.members.c, tables.environment_roles.c, tables.projects.c

_is_active = sa.exists().where(_accounts.id == _columns.author_id, _accounts.deactivated_at.is_(None))
_own_role = (
    sa.select(_members.role)
    .where(_members.project_id == _columns.project_id, _members.account_id == _columns.author_id)
    .scalar_subquery()
)
_role_there = (
    sa.select(_roles.role)
    .where(
        _roles.project_id == _columns.project_id,
        _roles.account_id == _columns.author_id,
        _roles.environment_id == _columns.environment_id,
    )
    .scalar_subquery()
)
_role = sa.func.coalesce(_role_there, _own_role)
_has_token = sa.or_(_columns.token_id.is_(None), sa.exists().where(_tokens.id == _columns.token_id))
_is_token_valid = sa.or_(
    _columns.token_id.is_(None),
    sa.exists().where(
        _tokens.id == _columns.token_id, sa.or_(_tokens.expires_at.is_(None), _tokens.expires_at > DatabaseNow())
    ),
)
_meets_demand = sa.or_(
    ~sa.exists().where(_projects.id == _columns.project_id, _projects.demands_second_factor),
    has_factor(_columns.author_id),
)


def lacks_authority() -> sa.ColumnElement[bool]:
    """Return the condition that the author of a release may not change its flag any more."""
    able = [role for role in Role if Permission.FLAGS_WRITE in PERMISSIONS[role]]
    lost = (~_is_active, sa.func.coalesce(_role, "").not_in(able), ~_is_token_valid, ~_meets_demand)
    return sa.and_(_columns.author_id.is_not(None), sa.or_(*lost))


_by_id = sa.select(_is_active, _role, _has_token, _is_token_valid, _meets_demand).where(
    _columns.id == sa.bindparam("release")
)


async def find_loss(connection: AsyncConnection, release: Release) -> str | None:
    """Say why a release may not act for its author any more; None if it may."""
    row = (await connection.execute(_by_id, {"release": release.id})).one_or_none()
    if row is None or release.author_id is None:
        return None
    is_active, role, *others = row
    return say_loss(release, Authority(bool(is_active), None if role is None else Role(role), *map(bool, others)))
