"""HTTP of the instance's accounts and projects, for its administrators."""

from functools import partial
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Query
from pydantic import Field, StrictBool
from starlette.responses import Response

from flagstaff.accounts.account_deletions_service import AccountDeletions
from flagstaff.accounts.administrators_service import Administrators
from flagstaff.api.auth import CurrentActor
from flagstaff.api.entity_tags import TaggedOut, if_match, tagged_response
from flagstaff.api.ids import Id, parse_id
from flagstaff.api.lists import BY_AGE, Listing, ListQuery
from flagstaff.api.operations import reads, writes
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Body, Moment, RoleName, Text, Update, Uuid, optional
from flagstaff.concurrency.claims import Priority
from flagstaff.database.preconditions import Precondition
from flagstaff.http.operations import SMALL_BODY, Caller
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import no_content
from flagstaff.http.services import service
from flagstaff.identity.accounts.accounts import ListedAccount
from flagstaff.identity.sessions.session_schemas import AccountSessionOut, session_view
from flagstaff.permissions.members import Role
from flagstaff.projects.projects import ListedProject
from flagstaff.values.moments import format_moment

router = Router(prefix="/api/admin", tags=["Administration"])


class AdministeredAccountOut(TaggedOut):
    """An account as administrators see it."""

    id: Uuid
    email: str
    administrator: bool
    active: bool
    deactivated_at: Moment | None
    second_factor: bool = Field(
        description="Whether it has an authenticator app or a passkey, or can be opened only at its identity provider."
    )
    last_seen_at: Moment | None = Field(
        description="When one of its sessions was last used, accurate to a few minutes; null if it has none."
    )
    created_at: Moment


class AccountDetailsOut(AdministeredAccountOut):
    """An account with its sessions, newest first."""

    projects: int = Field(description="The number of projects that count towards its quota.")
    tokens: int = Field(description="How many access tokens it has, personal and for projects.")
    sessions: list[AccountSessionOut]


class AccountUpdate(Update):
    """The fields to change."""

    active: StrictBool = optional()
    administrator: StrictBool = optional()


class AdministeredProjectOut(ResponseModel):
    """A project of any account. Its content is visible only to its members."""

    id: Uuid
    name: str
    owner_id: Uuid
    owner_email: str
    role: RoleName | None = Field(description="Your role in the project; null if you are not a member.")
    created_at: Moment


class NewMembership(Body):
    """The project to join, and as what."""

    project_id: Annotated[Text, Field(json_schema_extra={"format": "uuid"})]
    role: RoleName


class AccountsQuery(ListQuery):
    """The filter of accounts."""

    email: Annotated[Text | None, Field(description="Only accounts whose address contains this, ignoring case.")] = None


class ProjectsQuery(ListQuery):
    """The filter of projects."""

    name: Annotated[Text | None, Field(description="Only projects whose name contains this, ignoring case.")] = None


def _view(listed: ListedAccount) -> dict[str, Any]:
    account, last_seen_at = listed.account, listed.last_seen_at
    return {
        "id": account.id,
        "email": account.email,
        "administrator": account.is_administrator,
        "active": account.is_active,
        "deactivated_at": format_moment(account.deactivated_at) if account.deactivated_at else None,
        "second_factor": listed.has_second_factor,
        "last_seen_at": format_moment(last_seen_at) if last_seen_at else None,
        "created_at": format_moment(account.created_at),
    }


def _project_view(listed: ListedProject) -> dict[str, Any]:
    project = listed.project
    return {
        "id": project.id,
        "name": project.name,
        "owner_id": project.owner_id,
        "owner_email": listed.owner_email,
        "role": listed.role,
        "created_at": format_moment(project.created_at),
    }


_accounts = Listing(_view, lambda listed: (listed.account.created_at, listed.account.id), BY_AGE)
_projects = Listing(_project_view, lambda listed: (listed.project.created_at, listed.project.id), BY_AGE)


Service = Annotated[Administrators, Depends(service(Administrators))]
Deletions = Annotated[AccountDeletions, Depends(service(AccountDeletions))]
IfMatch = Annotated[Precondition[ListedAccount], Depends(if_match("account", _view))]


@router.get("/accounts", response_model=list[AdministeredAccountOut], responses=problems(400, 401, 403, 503))
@reads(Caller.PERSON)
async def list_accounts(
    query: Annotated[AccountsQuery, Query()], actor: CurrentActor, administrators: Service
) -> Response:
    """The accounts of this instance, newest first. For administrators, as everything under `/api/admin`."""
    return await _accounts.respond(query, partial(administrators.list_accounts, actor, query.email))


@router.get("/accounts/{account_id}", response_model=AccountDetailsOut, responses=problems(401, 403, 404, 503))
@reads(Caller.PERSON)
async def get_account(account_id: Id, actor: CurrentActor, administrators: Service) -> Response:
    """One account with its sessions."""
    found = await administrators.get_account(actor, account_id)
    sessions = [session_view(each) for each in found.sessions]
    counts = {"projects": found.projects, "tokens": found.tokens}
    return tagged_response(_view(found.listed), more={**counts, "sessions": sessions})


@router.put(
    "/accounts/{account_id}",
    response_model=AdministeredAccountOut,
    responses=problems(400, 401, 403, 404, 409, 413, 503),
)
@writes(Caller.PERSON, body_max_bytes=SMALL_BODY, reports_revision=False)
async def update_account(
    account_id: Id, body: AccountUpdate, actor: CurrentActor, administrators: Service, precondition: IfMatch
) -> Response:
    """Deactivate or reactivate an account, or make it an administrator or an ordinary account.

    Deactivating an account ends its sessions and its access tokens immediately, on every instance. Its projects remain,
    and their SDK keys work. The last administrator cannot be deactivated or demoted.
    """
    return tagged_response(_view(await administrators.update_account(actor, account_id, precondition, **body.given())))


@router.delete("/accounts/{account_id}", status_code=204, responses=problems(401, 403, 404, 409, 503))
@writes(Caller.PERSON, reports_revision=False, priority=Priority.LONG)
async def delete_account(account_id: Id, actor: CurrentActor, deletions: Deletions, precondition: IfMatch) -> Response:
    """Delete an account of somebody else with its sessions, tokens, factors, memberships and invitations, immediately.

    It cannot be undone. Each of its projects must have another owner, with room in the quota, and the instance another
    administrator: otherwise the response, 409, lists what to hand over or to delete first. Releases that it has started
    pause. The audit trail keeps what it did as done by "a deleted account" with its id; its address disappears from
    there within about a minute, and can be registered again.
    """
    await deletions.delete(actor, account_id, precondition)
    return no_content()


@router.delete("/accounts/{account_id}/sessions/{session_id}", status_code=204, responses=problems(401, 403, 404, 503))
@writes(Caller.PERSON, reports_revision=False)
async def end_account_session(account_id: Id, session_id: Id, actor: CurrentActor, administrators: Service) -> Response:
    """End a session of an account immediately on every instance."""
    await administrators.end_session(actor, account_id, session_id)
    return no_content()


@router.get("/projects", response_model=list[AdministeredProjectOut], responses=problems(400, 401, 403, 503))
@reads(Caller.PERSON)
async def list_all_projects(
    query: Annotated[ProjectsQuery, Query()], actor: CurrentActor, administrators: Service
) -> Response:
    """The projects of this instance, newest first. Their contents are visible only to their members."""
    return await _projects.respond(query, partial(administrators.list_projects, actor, query.name))


@router.post(
    "/memberships", status_code=204, response_class=Response, responses=problems(400, 401, 403, 404, 409, 413, 503)
)
@writes(Caller.PERSON, body_max_bytes=SMALL_BODY, reports_revision=False, repeatable=False)
async def join_project(body: NewMembership, actor: CurrentActor, administrators: Service) -> Response:
    """Join a project of this instance. The project's audit trail shows it as `member.joined`."""
    # An id that is none is not found, as in a path.
    project_id = parse_id(body.project_id) or UUID(int=0)
    await administrators.join_project(actor, project_id, Role(body.role))
    return no_content()
