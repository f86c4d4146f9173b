"""Access tokens: created, listed, revoked, and what they stand for.

A revoked token is deleted. Every request reads its token, and every write holds it until the commit, so a token that
has been revoked does nothing any more on any instance.
"""

from collections.abc import Awaitable, Callable, Container, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from uuid_utils.compat import uuid7

from flagstaff.changes.changes import Actor, Authenticated, Scope, TokenName, change_of
from flagstaff.database.changes_store import record
from flagstaff.database.database import Connection, Database, Transaction
from flagstaff.database.preconditions import ANY_STATE, Precondition
from flagstaff.identity.sessions.last_used import Sightings
from flagstaff.identity.sessions.tokens import hash_token
from flagstaff.permissions.permissions import Limits, Permission, require
from flagstaff.projects import environments_store
from flagstaff.projects.access import hold_session, open_membership
from flagstaff.projects.access_tokens import access_tokens_store
from flagstaff.projects.access_tokens.access_tokens import AccessToken, is_token, new_token
from flagstaff.projects.members import members_store
from flagstaff.settings import Settings
from flagstaff.values.errors import Code, Error, invalid_field, not_found
from flagstaff.values.quotas import Quota


@dataclass(frozen=True, slots=True)
class Wanted:
    """A token to create: None for the environments means all, and for the expiry never."""

    name: str
    permissions: tuple[Permission, ...]
    environments: tuple[UUID, ...] | None
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class AccessTokens:
    """The use cases of access tokens. Creating one returns it together with its secret, which is not stored."""

    database: Database
    now: Callable[[], datetime]
    mail_created: Callable[[AccessToken, str], Awaitable[None]]  # called with the page that lists the token
    settings: Settings
    _used: Sightings = field(default_factory=Sightings, init=False)

    async def authenticate(self, token_hash: bytes) -> Authenticated:
        """The account that a token acts for; raises Error UNAUTHENTICATED if it is unknown, revoked or expired."""
        async with self.database.query() as connection:
            found = await access_tokens_store.find_token_by_hash(connection, token_hash, self.now())
        if found is None:
            raise invalid_access_token()
        token, demand = found
        self._used.record(token.id, token.last_used_at, self.now())
        environments = None if token.environments is None else frozenset(token.environments)
        limits = Limits(frozenset(token.permissions), token.project_id, environments)
        return Authenticated(Actor(token.account_id, token.email, TokenName(token.id, token.name), limits), demand)

    async def list_own_tokens(self, actor: Actor) -> list[AccessToken]:
        """The actor's personal tokens, newest first."""
        assert actor.account_id is not None
        async with self.database.read() as connection:
            return await access_tokens_store.list_own_tokens(connection, actor.account_id)

    async def get_own_token(self, actor: Actor, token_id: UUID) -> AccessToken:
        """A personal token of the actor; raises Error NOT_FOUND."""
        return _get(await self.list_own_tokens(actor), token_id)

    async def create_own_token(self, actor: Actor, wanted: Wanted) -> tuple[AccessToken, str]:
        """Create a personal token.

        Raises:
            Error: FORBIDDEN if the actor does not have the permissions in the environments, INVALID for an environment
                that is not in the actor's projects or for an expiry in the past, CONFLICT without room for another.
        """
        assert actor.account_id is not None
        self._require_future(wanted)
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            await hold_session(connection, actor)  # what ends all of the account's tokens ends its sessions, too
            await self._require_permissions(connection, actor.account_id, wanted)
            present = await access_tokens_store.list_own_tokens(connection, actor.account_id)
            await self._make_room(transaction, actor, self.settings.max_tokens_per_account, present)
            token, secret = await self._create(connection, actor, None, wanted)
            change = change_of(actor, "account.token_created", token.created_at, Scope(), after=token)
            await record(transaction, change)
            return token, secret

    async def delete_own_token(
        self, actor: Actor, token_id: UUID, precondition: Precondition[AccessToken] = ANY_STATE
    ) -> None:
        """Revoke a personal token of the actor; raises Error NOT_FOUND."""
        assert actor.account_id is not None
        async with self.database.transaction() as transaction:
            token = _get(await access_tokens_store.list_own_tokens(transaction.connection, actor.account_id), token_id)
            await precondition.require(transaction.connection, token, token_id, None)
            await self._delete(transaction, actor, token)

    async def list_project_tokens(self, actor: Actor, project_id: UUID) -> list[AccessToken]:
        """The tokens for a project, newest first; raises Error NOT_FOUND, FORBIDDEN."""
        async with self.database.read() as connection:
            await open_membership(connection, actor, project_id, Permission.TOKENS_READ)
            return await access_tokens_store.list_project_tokens(connection, project_id)

    async def get_project_token(self, actor: Actor, project_id: UUID, token_id: UUID) -> AccessToken:
        """A token for a project; raises Error NOT_FOUND, FORBIDDEN."""
        return _get(await self.list_project_tokens(actor, project_id), token_id)

    async def create_project_token(self, actor: Actor, project_id: UUID, wanted: Wanted) -> tuple[AccessToken, str]:
        """Create a token for a project.

        Raises:
            Error: NOT_FOUND; FORBIDDEN if the actor may not create tokens or does not have the permissions, or is a
                token; INVALID for an environment of another project or an expiry in the past; CONFLICT without room.
        """
        self._require_future(wanted)
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            _, own = await open_membership(connection, actor, project_id, Permission.TOKENS_WRITE, for_update=True)
            if actor.token is not None:
                raise Error(Code.FORBIDDEN, "An access token cannot create access tokens. Log in to create one.")
            await hold_session(connection, actor)
            there = await environments_store.find_places(connection, wanted.environments or ())
            _require_environments(wanted, there, {project_id})
            for permission in wanted.permissions:
                for _, key in there.values() or ((project_id, None),):
                    require(own, permission, key)
            present = await access_tokens_store.list_project_tokens(connection, project_id)
            await self._make_room(transaction, actor, self.settings.max_tokens_per_project, present)
            token, secret = await self._create(connection, actor, project_id, wanted)
            change = change_of(actor, "token.created", token.created_at, Scope(project_id), after=token)
            await record(transaction, change)
            return token, secret

    async def delete_project_token(
        self, actor: Actor, project_id: UUID, token_id: UUID, precondition: Precondition[AccessToken] = ANY_STATE
    ) -> None:
        """Revoke a token for a project; raises Error NOT_FOUND, FORBIDDEN."""
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            await open_membership(connection, actor, project_id, Permission.TOKENS_WRITE, for_update=True)
            token = _get(await access_tokens_store.list_project_tokens(connection, project_id), token_id)
            await precondition.require(connection, token, token_id, project_id)
            await self._delete(transaction, actor, token)

    async def tell_owner(self, token: AccessToken) -> None:
        """Mail the owner of an account that it has a new token. To be called after the response."""
        page = "/account/tokens" if token.project_id is None else f"/projects/{token.project_id}/tokens"
        await self.mail_created(token, page)

    async def write_last_used(self) -> None:
        """Write when tokens were last used, if that was some minutes after the time in the database."""

        async def write(used: Mapping[UUID, datetime]) -> None:
            async with self.database.transaction() as transaction:
                await access_tokens_store.record_used(transaction.connection, used)

        await self._used.write(write)

    async def _make_room(
        self, transaction: Transaction, actor: Actor, quota: Quota, present: list[AccessToken]
    ) -> None:
        """Delete the tokens that expired first if there is no room for another; raise Error CONFLICT if none has.

        Expired tokens are kept as long as there is room, because they explain why a script no longer works.
        """
        expired = sorted(
            (each.expires_at, each.id)
            for each in present
            if each.expires_at is not None and each.expires_at <= self.now()
        )
        surplus = expired[: max(0, len(present) + 1 - quota.maximum)]
        for _, token_id in surplus:
            await self._delete(transaction, actor, _get(present, token_id))
        quota.require_room(len(present) - len(surplus))

    async def _delete(self, transaction: Transaction, actor: Actor, token: AccessToken) -> None:
        await access_tokens_store.delete_token(transaction.connection, token.id)
        action = "account.token_deleted" if token.project_id is None else "token.deleted"
        await record(transaction, change_of(actor, action, self.now(), Scope(token.project_id), before=token))

    async def _create(
        self, connection: Connection, actor: Actor, project_id: UUID | None, wanted: Wanted
    ) -> tuple[AccessToken, str]:
        assert actor.account_id is not None
        assert actor.email is not None
        token = AccessToken(
            id=uuid7(),
            account_id=actor.account_id,
            email=actor.email,
            project_id=project_id,
            name=wanted.name,
            permissions=tuple(each for each in Permission if each in wanted.permissions),
            environments=wanted.environments,
            created_at=self.now(),
            expires_at=wanted.expires_at,
            last_used_at=None,
        )
        secret = new_token()
        await access_tokens_store.create_token(connection, token, hash_token(secret))
        return token, secret

    async def _require_permissions(self, connection: Connection, account_id: UUID, wanted: Wanted) -> None:
        """Refuse environments that are not the account's, and permissions that it does not have in them.

        A token without environments has what its account has wherever it is used, which may be an owner somewhere.
        """
        if wanted.environments is None:
            return
        there = await environments_store.find_places(connection, wanted.environments)
        project_ids = {project_id for project_id, _ in there.values()}
        memberships = await members_store.list_memberships(connection, account_id, project_ids)
        _require_environments(wanted, there, memberships)
        for project_id, key in there.values():
            for permission in wanted.permissions:
                require(memberships[project_id], permission, key)

    def _require_future(self, wanted: Wanted) -> None:
        if wanted.expires_at is not None and wanted.expires_at <= self.now():
            raise invalid_field("expires_at", "must be in the future")


def _require_environments(wanted: Wanted, there: Mapping[UUID, tuple[UUID, str]], project_ids: Container[UUID]) -> None:
    """Raise Error INVALID unless all wanted environments are there, in one of these projects."""
    for place, environment_id in enumerate(wanted.environments or ()):
        if environment_id not in there or there[environment_id][0] not in project_ids:
            raise invalid_field(f"environments.{place}", "must be the id of an environment that you can use here")


def read_access_token(token: str) -> bytes:
    """The hash of a token; raises Error UNAUTHENTICATED, without a query, if its checksum is wrong."""
    if not is_token(token):
        raise invalid_access_token()
    return hash_token(token)


def invalid_access_token() -> Error:
    """Return the error for an access token that is not valid, or not any more."""
    return Error(Code.UNAUTHENTICATED, "The access token is malformed, has expired or has been revoked.")


def _get(tokens: list[AccessToken], token_id: UUID) -> AccessToken:
    token = next((each for each in tokens if each.id == token_id), None)
    if token is None:
        raise not_found("access token")
    return token
