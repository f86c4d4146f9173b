"""Accounts, their password resets and known clients in the database."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables
from flagstaff.database.driver_errors import unique_or
from flagstaff.database.resources import Resource
from flagstaff.database.windows import Listing, containing
from flagstaff.identity.accounts.accounts import Account, ListedAccount
from flagstaff.identity.second_factors.second_factors_store import chosen_demand, has_factor
from flagstaff.values.emails import email_identity
from flagstaff.values.lists import WHOLE, Window

_columns = tables.accounts.c
_ACCOUNTS = Resource(Account, tables.accounts)
_account = _ACCOUNTS.select()
_by_id = _account.where(_columns.id == sa.bindparam("account"))
_token = sa.bindparam("token", type_=sa.Uuid)
_its_session = sa.and_(tables.sessions.c.id == _token, tables.sessions.c.account_id == _columns.id)
# Used by every request.
_by_token = (
    _by_id.add_columns(tables.sessions.c.last_seen_at, chosen_demand)
    .select_from(tables.accounts.join(tables.sessions, _its_session))
    .where(_columns.deactivated_at.is_(None))
)
_like = sa.bindparam("like", type_=sa.Text)
_sessions = tables.sessions.c
_last_seen = sa.select(sa.func.max(_sessions.last_seen_at)).where(_sessions.account_id == _columns.id).scalar_subquery()
_listed = _account.add_columns(has_factor(_columns.id), _last_seen)
_matching = Listing(
    _listed.where(
        sa.or_(*(each.like(_like, escape="\\") for each in (sa.func.lower(_columns.email), _columns.email_identity)))
    ),
    (_columns.created_at, _columns.id),
    descending=True,
)


class TokenAccount(NamedTuple):
    """The account of a token, and when its session was last seen.

    `demand` is the instance's setting for second factors, or None if it has not been changed.
    """

    account: Account
    last_seen_at: datetime
    demand: str | None


async def create_account(connection: AsyncConnection, account: Account) -> None:
    """Write a new account; raises Error CONFLICT if the email is taken."""
    values = {**_ACCOUNTS.row(account), "email_identity": email_identity(account.email)}
    with unique_or("An account with this email exists already.", tables.accounts.c.email_identity):
        await connection.execute(tables.accounts.insert().values(values))


async def find_account(connection: AsyncConnection, account_id: UUID) -> Account | None:
    """The account with this id."""
    row = (await connection.execute(_by_id, {"account": account_id})).one_or_none()
    return _ACCOUNTS.read(row) if row else None


async def find_token_account(connection: AsyncConnection, account_id: UUID, token_id: UUID) -> TokenAccount | None:
    """The account with this id and the token's session, unless the token has been ended or the account deactivated."""
    row = (await connection.execute(_by_token, {"account": account_id, "token": token_id})).one_or_none()
    return TokenAccount(_ACCOUNTS.read(row), *row[-2:]) if row else None


async def find_account_by_email(connection: AsyncConnection, email: str) -> Account | None:
    """The account whose address reaches the same mailbox."""
    # Of two accounts with one mailbox from an earlier release, the later has kept its own spelling.
    for identity in dict.fromkeys((email.lower(), email_identity(email))):
        row = (await connection.execute(_account.where(_columns.email_identity == identity))).one_or_none()
        if row is not None:
            return _ACCOUNTS.read(row)
    return None


async def find_active(connection: AsyncConnection, account_ids: Sequence[UUID]) -> set[UUID]:
    """Return which of some accounts are not deactivated."""
    query = sa.select(_columns.id).where(_columns.id.in_(account_ids), _columns.deactivated_at.is_(None))
    return set((await connection.execute(query)).scalars())


async def find_listed_account(connection: AsyncConnection, account_id: UUID) -> ListedAccount | None:
    """The account with this id, as in a list."""
    row = (await connection.execute(_listed.where(_columns.id == account_id))).one_or_none()
    return _as_listed(row) if row else None


async def list_accounts(connection: AsyncConnection, email: str, window: Window = WHOLE) -> list[ListedAccount]:
    """The accounts whose address contains a text, ignoring case, newest first, by their creation and their id."""
    values = {"like": containing(email.lower())}
    return [_as_listed(row) for row in await _matching.rows(connection, window, values)]


def _as_listed(row: sa.Row[Any]) -> ListedAccount:
    has_second_factor, last_seen_at = tuple(row)[-2:]
    return ListedAccount(_ACCOUNTS.read(row), bool(has_second_factor), last_seen_at)


async def set_deactivated(connection: AsyncConnection, account_id: UUID, at: datetime | None) -> None:
    """Deactivate an account, or with None reactivate it."""
    await connection.execute(tables.accounts.update().where(_columns.id == account_id).values(deactivated_at=at))


async def set_email_verified(connection: AsyncConnection, account_id: UUID, at: datetime) -> bool:
    """Note that an account reads the mail of its address; return whether that was not known."""
    unknown = (_columns.id == account_id, _columns.email_verified_at.is_(None))
    result = await connection.execute(tables.accounts.update().where(*unknown).values(email_verified_at=at))
    return bool(result.rowcount)


async def set_password_hash(connection: AsyncConnection, account_id: UUID, password_hash: str) -> None:
    """Replace an account's password."""
    await connection.execute(
        tables.accounts.update().where(_columns.id == account_id).values(password_hash=password_hash)
    )


async def lock_account(connection: AsyncConnection, account_id: UUID) -> None:
    """Wait for every other transaction that has locked this account."""
    # Not a lock that conflicts with those of rows that refer to the account: requests with an Idempotency-Key have
    # written such a row before they come here, so two of them would wait for each other.
    await connection.execute(sa.select(_columns.id).where(_columns.id == account_id).with_for_update(key_share=True))


async def count_resets_since(connection: AsyncConnection, account_id: UUID, since: datetime) -> int:
    """Count the reset links that were made for an account since a moment."""
    resets = tables.password_resets.c
    query = sa.select(sa.func.count()).where(resets.account_id == account_id, resets.created_at > since)
    return int((await connection.execute(query)).scalar_one())


async def create_reset(
    connection: AsyncConnection, *, token_hash: bytes, account_id: UUID, created_at: datetime, expires_at: datetime
) -> None:
    """Write a reset link. Only the token's hash is stored."""
    await connection.execute(
        tables.password_resets.insert().values(
            token_hash=token_hash, account_id=account_id, created_at=created_at, expires_at=expires_at
        )
    )


async def find_reset_account(connection: AsyncConnection, token_hash: bytes, now: datetime) -> UUID | None:
    """The account of this reset link, unless it has been used or has expired."""
    resets = tables.password_resets.c
    query = sa.select(resets.account_id).where(
        resets.token_hash == token_hash, resets.spent_at.is_(None), resets.expires_at > now
    )
    return (await connection.execute(query)).scalar_one_or_none()


async def spend_resets(connection: AsyncConnection, account_id: UUID, now: datetime) -> None:
    """Invalidate every outstanding reset link of an account."""
    resets = tables.password_resets.c
    await connection.execute(
        tables.password_resets.update()
        .where(resets.account_id == account_id, resets.spent_at.is_(None))
        .values(spent_at=now)
    )


async def delete_resets_before(connection: AsyncConnection, moment: datetime) -> None:
    """Delete the reset links that expired before a moment."""
    await connection.execute(tables.password_resets.delete().where(tables.password_resets.c.expires_at < moment))


async def client_seen_at(connection: AsyncConnection, account_id: UUID, client_hash: bytes) -> datetime | None:
    """Return the time of this client's last login to the account; None if it is unknown."""
    clients = tables.known_clients.c
    query = sa.select(clients.seen_at).where(clients.account_id == account_id, clients.client_hash == client_hash)
    return (await connection.execute(query)).scalar_one_or_none()


async def record_client(connection: AsyncConnection, account_id: UUID, client_hash: bytes, now: datetime) -> None:
    """Store that this client logged in to the account. Lock the account first."""
    clients = tables.known_clients
    ours = (clients.c.account_id == account_id, clients.c.client_hash == client_hash)
    await connection.execute(clients.delete().where(*ours))
    await connection.execute(clients.insert().values(account_id=account_id, client_hash=client_hash, seen_at=now))


async def forget_clients_beyond(connection: AsyncConnection, account_id: UUID, count: int) -> None:
    """Delete the clients of an account but for this many that last logged in. Lock the account first."""
    clients = tables.known_clients.c
    ours = clients.account_id == account_id
    kept = sa.select(clients.client_hash).where(ours).order_by(clients.seen_at.desc(), clients.client_hash).limit(count)
    await connection.execute(tables.known_clients.delete().where(ours, clients.client_hash.not_in(kept)))


async def delete_clients(connection: AsyncConnection, until: datetime) -> None:
    """Delete the clients of every account that last logged in at or before a moment."""
    await connection.execute(tables.known_clients.delete().where(tables.known_clients.c.seen_at <= until))


async def forget_clients(connection: AsyncConnection, account_id: UUID, *, until: datetime) -> None:
    """Delete the clients that last logged in to the account at or before a moment."""
    clients = tables.known_clients
    await connection.execute(clients.delete().where(clients.c.account_id == account_id, clients.c.seen_at <= until))


async def has_identity(connection: AsyncConnection, account_id: UUID) -> bool:
    """Return whether an account signs in at a provider."""
    query = sa.select(sa.exists().where(tables.identities.c.account_id == account_id))
    return bool((await connection.execute(query)).scalar_one())


async def delete_account_tokens(connection: AsyncConnection, account_id: UUID) -> None:
    """Delete all tokens that an account has made, also those for projects."""
    tokens = tables.access_tokens
    await connection.execute(tokens.delete().where(tokens.c.account_id == account_id))
