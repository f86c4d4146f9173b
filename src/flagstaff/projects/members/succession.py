"""Who a project counts for when one of its owners ceases to be one. A project always has an owner."""

from flagstaff.database.database import Connection
from flagstaff.identity.accounts import accounts_store
from flagstaff.permissions.members import Member, Role
from flagstaff.projects import projects_store
from flagstaff.projects.members import members_store
from flagstaff.projects.projects import Project
from flagstaff.values.errors import Code, Error
from flagstaff.values.quotas import Quota


async def hand_over(connection: Connection, project: Project, member: Member, quota: Quota) -> None:
    """Let a project, which is locked, count for another owner if it counts for a member who ceases to be an owner.

    That is the owner who has been there longest and has room for it within the quota of projects of an account. Owners
    whose accounts are deactivated do not count: nobody could do anything for the project.

    Raises:
        Error: CONFLICT if the member is the last owner, or no other one has room.
    """
    if member.role is not Role.OWNER:
        return
    found = await members_store.list_members(connection, project.id)
    others = [each for each in found if each.role is Role.OWNER and each.account_id != member.account_id]
    active = await accounts_store.find_active(connection, [each.account_id for each in others])
    owners = [each for each in others if each.account_id in active]
    if not owners:
        which = " whose account is active" if others else ""
        raise Error(
            Code.CONFLICT,
            f"{member.email} is the last owner of the project{which}. Make another member an owner first, or delete "
            "the project.",
        )
    if project.owner_id != member.account_id:
        return
    for owner in owners:
        await accounts_store.lock_account(connection, owner.account_id)
        if quota.has_room(await projects_store.count_projects(connection, owner.account_id)):
            await projects_store.set_owner(connection, project.id, owner.account_id)
            return
    raise Error(
        Code.CONFLICT,
        f"The project counts towards the quota of {member.email}, and no other owner may have another project "
        f"({quota.setting}).",
    )
