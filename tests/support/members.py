"""Members of projects."""

from uuid import UUID

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.permissions.members import Member, Role
from flagstaff.projects.members.members_store import save_member
from tests.support.api import Caller, Json
from tests.support.builders import AT


async def join(
    flagstaff: Flagstaff, project: Json, caller: Caller, role: str, environments: dict[str, str] | None = None
) -> str:
    """Make a signed-in user a member of a project, or change the role; return the path of the member."""
    roles = {key: Role(each) for key, each in (environments or {}).items()}
    account_id = UUID(caller.account["id"])
    member = Member(UUID(project["id"]), account_id, caller.account["email"], Role(role), roles, AT)
    async with flagstaff.database.transaction() as transaction:
        await save_member(transaction.connection, member)
    return member_path(project, caller)


def member_path(project: Json, caller: Caller) -> str:
    """The path of a user as a member of a project."""
    return f"/api/projects/{project['id']}/members/{caller.account['id']}"
