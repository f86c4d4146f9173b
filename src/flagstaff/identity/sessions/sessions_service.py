"""Sessions: opened by a login, listed and ended by their owner, and what a bearer token stands for.

Every request reads the session of its token, so one that ends has ended on every instance.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from uuid_utils.compat import uuid7

from flagstaff.changes.changes import Actor, Authenticated
from flagstaff.database.database import Connection, Database
from flagstaff.identity.accounts import accounts_store
from flagstaff.identity.accounts.account_changes import end_other_sessions, end_session
from flagstaff.identity.accounts.accounts import TOKEN_LIFETIME, Account
from flagstaff.identity.accounts.accounts_store import TokenAccount
from flagstaff.identity.sessions import sessions_store
from flagstaff.identity.sessions.last_used import Sightings
from flagstaff.identity.sessions.sessions import SEEN_KNOWN_WITHIN, SESSIONS_PER_ACCOUNT, Origin, Session
from flagstaff.identity.sessions.tokens import Claims, Tokens
from flagstaff.values.errors import Code, Error

_ENDED_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Sessions:
    """The use cases of sessions. With `idle_limit`, one that was not used for so long ends, a few minutes late."""

    database: Database
    now: Callable[[], datetime]
    tokens: Tokens
    idle_limit: timedelta | None = None
    _seen: Sightings = field(default_factory=Sightings, init=False)

    async def open(self, account: Account, origin: Origin) -> str:
        """A bearer token for an account whose owner has proven to be it, in a new session.

        Raises:
            Error: UNAUTHENTICATED if the password was changed after `account` had been read, FORBIDDEN if the account
                is deactivated.
        """
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            await accounts_store.lock_account(connection, account.id)
            present = await accounts_store.find_account(connection, account.id)
            if present is None or present.password_hash != account.password_hash:
                raise Error(Code.UNAUTHENTICATED, "The password has been changed meanwhile. Log in again.")
            if not present.is_active:
                raise Error(Code.FORBIDDEN, "This account has been deactivated. Ask an administrator of this instance.")
            return await self.open_within(connection, account, origin)

    async def open_within(self, connection: Connection, account: Account, origin: Origin) -> str:
        """The same in a transaction that has locked the account. Too many sessions end, first the least used."""
        now = self.now()
        session = Session(
            id=uuid7(),
            account_id=account.id,
            device=origin.device,
            address=origin.address,
            created_at=now,
            last_seen_at=now,
            expires_at=now + TOKEN_LIFETIME,
        )
        await sessions_store.end_sessions(connection, account.id, but_for=SESSIONS_PER_ACCOUNT - 1)
        await sessions_store.create_session(connection, session)
        return self.tokens.issue(account, session)

    def read_token(self, token: str) -> Claims:
        """The claims of a genuine token that has not expired, but may have been ended; raises Error UNAUTHENTICATED."""
        claims = self.tokens.read(token, self.now())
        if claims is None:
            raise invalid_token()
        return claims

    async def authenticate(self, claims: Claims) -> Authenticated:
        """The account that a token belongs to; raises Error UNAUTHENTICATED if its session has ended."""
        async with self.database.query() as connection:
            found = await self._find_account(connection, claims)
        actor = Actor(found.account.id, found.account.email, session_id=claims.session_id)
        return Authenticated(actor, found.demand)

    async def list_sessions(self, actor: Actor) -> list[Session]:
        """The actor's open sessions, those that were used last first."""
        assert actor.account_id is not None
        async with self.database.read() as connection:
            return await sessions_store.list_sessions(connection, actor.account_id, self.now())

    async def end_session(self, actor: Actor, session_id: UUID) -> None:
        """End a session of the actor immediately on every instance; raises Error NOT_FOUND."""
        assert actor.account_id is not None
        async with self.database.transaction() as transaction:
            await end_session(transaction, actor, actor.account_id, session_id, self.now())

    async def end_other_sessions(self, actor: Actor) -> None:
        """End all sessions of the actor but the one in which it acts, immediately on every instance."""
        assert actor.account_id is not None
        async with self.database.transaction() as transaction:
            await end_other_sessions(transaction, actor, actor.account_id, self.now())

    async def log_out(self, token: str) -> None:
        """End a token and its session immediately on every instance; raises Error UNAUTHENTICATED if it has ended."""
        claims = self.read_token(token)
        await self.authenticate(claims)
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            await accounts_store.lock_account(connection, claims.account_id)
            await self._find_account(connection, claims)  # another request may have ended it
            await sessions_store.end(connection, [claims.session_id])

    async def write_last_seen(self) -> None:
        """Write when sessions were last seen, if that was some minutes after the time in the database."""

        async def write(seen: Mapping[UUID, datetime]) -> None:
            async with self.database.transaction() as transaction:
                await sessions_store.record_seen(transaction.connection, seen)

        await self._seen.write(write)

    async def end_idle(self, now: datetime) -> None:
        """End the sessions that were not used for too long, with the streams that are open in them."""
        more = self.idle_limit is not None
        if more:
            await self.write_last_seen()  # or sessions that were used while the database refused writes would end
        while more:
            async with self.database.transaction() as transaction:
                since = self._idle_since(now)
                more = await sessions_store.end_unseen(transaction.connection, since, _ENDED_AT_ONCE)

    def _idle_since(self, now: datetime) -> datetime:
        """A session that was last seen at this moment, or before it, has been idle for too long."""
        assert self.idle_limit is not None
        return now - self.idle_limit - SEEN_KNOWN_WITHIN

    async def _find_account(self, connection: Connection, claims: Claims) -> TokenAccount:
        found = await accounts_store.find_token_account(connection, claims.account_id, claims.session_id)
        if found is None or not self.tokens.is_current(found.account, claims.stamp):
            raise invalid_token()
        last_seen_at = self._seen.latest(claims.session_id, found.last_seen_at)
        if self.idle_limit is not None and last_seen_at <= self._idle_since(self.now()):
            raise Error(Code.UNAUTHENTICATED, "The session has ended, because it was not used. Log in again.")
        self._seen.record(claims.session_id, found.last_seen_at, self.now())
        return found


def invalid_token() -> Error:
    """Return the error for a token that is not valid, or not any more."""
    return Error(Code.UNAUTHENTICATED, "The access token is malformed, expired or has been ended. Log in again.")
