"""HTTP of access tokens: the caller's own, and those for a project."""

from typing import Annotated, Any

from fastapi import Depends, Request
from pydantic import BeforeValidator, Field, WithJsonSchema
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.entity_tags import TaggedOut, if_match, tagged_response
from flagstaff.api.ids import EnvironmentIds, Id
from flagstaff.api.operations import reads, writes
from flagstaff.api.routers import Router
from flagstaff.api.schemas import GivenMoment, Moment, Name, Uuid, at_most, distinct
from flagstaff.changes.changes import Actor
from flagstaff.concurrency.claims import Priority
from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.database.preconditions import Precondition
from flagstaff.http.operations import SMALL_BODY, Caller
from flagstaff.http.problems import problems
from flagstaff.http.responses import json_array_response, no_content
from flagstaff.http.services import service, service_of
from flagstaff.identity.accounts.confirmation_schemas import Confirmed, confirm
from flagstaff.permissions.permissions import Permission
from flagstaff.projects.access_tokens.access_tokens import PATTERN, AccessToken
from flagstaff.projects.access_tokens.access_tokens_service import AccessTokens, Wanted
from flagstaff.values.moments import format_moment

router = Router(prefix="/api", tags=["Access tokens"])

_OWN, _OF_PROJECT = "/me/tokens", "/projects/{project_id}/tokens"


def _read_permission(given: object) -> Permission:
    try:
        return Permission(given)  # type: ignore[arg-type]
    except ValueError:
        raise ValueError(f"is not a permission; the permissions are {', '.join(Permission)}") from None


_PERMISSION = WithJsonSchema({"type": "string", "enum": list(Permission)})
Permissions = Annotated[
    list[Annotated[Permission, BeforeValidator(_read_permission), _PERMISSION]],
    at_most(len(Permission)),
    distinct("a permission"),
    Field(json_schema_extra={"minItems": 1, "uniqueItems": True}),
]


class NewToken(Confirmed):
    """A token to create."""

    name: Name
    permissions: Permissions
    environments: EnvironmentIds | None = Field(
        default=None, description="The ids of the environments in which the token may be used; by default in all."
    )
    expires_at: GivenMoment | None = Field(default=None, description="When the token expires; by default never.")

    def wanted(self) -> Wanted:
        """The token for the service."""
        environments = None if self.environments is None else tuple(self.environments)
        return Wanted(self.name, tuple(self.permissions), environments, self.expires_at)


class AccessTokenOut(TaggedOut):
    """A token without its secret. It allows what both it and the present role of its account allow."""

    id: Uuid
    name: str
    permissions: list[Permission]
    environments: list[Uuid] | None = Field(description="Null for all environments.")
    account_id: Uuid = Field(description="The account for which the token acts: the one that created it.")
    email: str
    created_at: Moment
    expires_at: Moment | None
    last_used_at: Moment | None = Field(description="When the token was last used, accurate to a few minutes.")


class CreatedTokenOut(AccessTokenOut):
    """A new token, with its secret, which is shown only here."""

    token: str = Field(json_schema_extra={"pattern": f"^{PATTERN}$"})


def _view(token: AccessToken) -> dict[str, Any]:
    return {
        "id": token.id,
        "name": token.name,
        "permissions": token.permissions,
        "environments": token.environments,
        "account_id": token.account_id,
        "email": token.email,
        "created_at": format_moment(token.created_at),
        "expires_at": format_moment(token.expires_at) if token.expires_at else None,
        "last_used_at": format_moment(token.last_used_at) if token.last_used_at else None,
    }


Service = Annotated[AccessTokens, Depends(service(AccessTokens))]


async def _confirm(request: Request, actor: Actor, body: NewToken) -> None:
    """Refuse someone who has only the session of an account: a token would outlast it."""
    if actor.token is not None:
        return  # it makes no tokens, which the service says
    await confirm(request, actor, body)


def _start_telling(request: Request, tokens: AccessTokens, token: AccessToken) -> None:
    supervisor = service_of(request, Supervisor)
    supervisor.start("token mail", tokens.tell_owner(token))  # after the response, which must not wait for the mail


IfOwnMatch = Annotated[Precondition[AccessToken], Depends(if_match("access token", _view))]
IfMatch = Annotated[Precondition[AccessToken], Depends(if_match("access token", _view))]


@router.get(_OWN, response_model=list[AccessTokenOut], responses=problems(401, 403, 503))
@reads(Caller.ACCOUNT)
async def list_my_tokens(actor: CurrentActor, tokens: Service) -> Response:
    """Your personal access tokens, newest first, including those that have expired."""
    return await json_array_response(map(_view, await tokens.list_own_tokens(actor)))


@router.post(
    _OWN, status_code=201, response_model=CreatedTokenOut, responses=problems(400, 401, 403, 409, 413, 429, 503)
)
@writes(Caller.ACCOUNT, body_max_bytes=SMALL_BODY, reports_revision=False, repeatable=False)
async def create_my_token(body: NewToken, request: Request, actor: CurrentActor, tokens: Service) -> Response:
    """Create a personal access token, which acts for you in all of your projects. Confirm it with your password.

    In each project it allows what both its permissions and your current role allow. You get a mail about it. A wrong
    password counts as a failed login.
    """
    await _confirm(request, actor, body)
    token, secret = await tokens.create_own_token(actor, body.wanted())
    _start_telling(request, tokens, token)
    return tagged_response(_view(token), 201, {"token": secret})


@router.get(_OWN + "/{token_id}", response_model=AccessTokenOut, responses=problems(401, 403, 404, 503))
@reads(Caller.ACCOUNT)
async def get_my_token(token_id: Id, actor: CurrentActor, tokens: Service) -> Response:
    """One of your personal access tokens."""
    return tagged_response(_view(await tokens.get_own_token(actor, token_id)))


@router.delete(_OWN + "/{token_id}", status_code=204, responses=problems(401, 403, 404, 503))
@writes(Caller.ACCOUNT, reports_revision=False, priority=Priority.KILL)
async def revoke_my_token(token_id: Id, actor: CurrentActor, tokens: Service, precondition: IfOwnMatch) -> Response:
    """Revoke a personal access token immediately on every instance."""
    await tokens.delete_own_token(actor, token_id, precondition)
    return no_content()


@router.get(
    _OF_PROJECT,
    response_model=list[AccessTokenOut],
    responses=problems(401, 404, 503),
)
@reads(Permission.TOKENS_READ)
async def list_tokens(project_id: Id, actor: CurrentActor, tokens: Service) -> Response:
    """The access tokens for a project, newest first, including those that have expired."""
    return await json_array_response(map(_view, await tokens.list_project_tokens(actor, project_id)))


@router.post(
    _OF_PROJECT,
    status_code=201,
    response_model=CreatedTokenOut,
    responses=problems(400, 401, 404, 409, 413, 429, 503),
)
@writes(Permission.TOKENS_WRITE, body_max_bytes=SMALL_BODY, reports_revision=True, repeatable=False)
async def create_token(
    project_id: Id, body: NewToken, request: Request, actor: CurrentActor, tokens: Service
) -> Response:
    """Create an access token for a project. Confirm it with your password.

    It may have only permissions that you have, and allows what both they and your current role allow. It ends when you
    leave the project. You get a mail about it. A wrong password counts as a failed login. An `Idempotency-Key` is
    ignored, because the response is not stored.
    """
    await _confirm(request, actor, body)
    token, secret = await tokens.create_project_token(actor, project_id, body.wanted())
    _start_telling(request, tokens, token)
    return tagged_response(_view(token), 201, {"token": secret})


@router.get(
    _OF_PROJECT + "/{token_id}",
    response_model=AccessTokenOut,
    responses=problems(401, 404, 503),
)
@reads(Permission.TOKENS_READ)
async def get_token(project_id: Id, token_id: Id, actor: CurrentActor, tokens: Service) -> Response:
    """One access token for a project."""
    return tagged_response(_view(await tokens.get_project_token(actor, project_id, token_id)))


@router.delete(
    _OF_PROJECT + "/{token_id}",
    status_code=204,
    responses=problems(401, 404, 503),
)
@writes(Permission.TOKENS_WRITE, reports_revision=True, priority=Priority.KILL)
async def revoke_token(
    project_id: Id, token_id: Id, actor: CurrentActor, tokens: Service, precondition: IfMatch
) -> Response:
    """Revoke an access token for a project immediately on every instance."""
    await tokens.delete_project_token(actor, project_id, token_id, precondition)
    return no_content()
