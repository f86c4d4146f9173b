"""Changes of accounts that several use cases make, in the caller's transaction."""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from uuid_utils.compat import uuid7

from flagstaff.changes.changes import Actor, Scope, change_of
from flagstaff.database.changes_store import record
from flagstaff.database.database import Transaction
from flagstaff.identity.accounts import accounts_store
from flagstaff.identity.accounts.accounts import Account
from flagstaff.identity.administration import administrators_store
from flagstaff.identity.sessions import sessions_store
from flagstaff.values.errors import not_found


async def create_account(
    transaction: Transaction, email: str, password_hash: str, now: datetime, *, is_verified: bool
) -> Account:
    """Create an account. The first of an instance is its administrator.

    `is_verified` says whether somebody who is trusted knows that the address is its owner's.

    Raises:
        Error: CONFLICT if the email is taken.
    """
    connection, account_id = transaction.connection, uuid7()
    is_first = await administrators_store.claim_first_account(connection, account_id)
    verified_at = now if is_verified else None
    account = Account(account_id, email, password_hash, now, is_first, email_verified_at=verified_at)
    await accounts_store.create_account(connection, account)
    actor = Actor(account.id, account.email)
    await record(transaction, change_of(actor, "account.registered", now, Scope(), after=account))
    return account


async def verify_email(transaction: Transaction, account: Account, now: datetime) -> Account:
    """Note that an account reads the mail of its address; return the account as it is then."""
    if not await accounts_store.set_email_verified(transaction.connection, account.id, now):
        return account
    actor, verified = Actor(account.id, account.email), replace(account, email_verified_at=now)
    await record(transaction, change_of(actor, "account.email_verified", now, Scope(), before=account, after=verified))
    return verified


async def replace_password(
    transaction: Transaction,
    actor: Actor,
    account: Account,
    password_hash: str,
    action: str,
    now: datetime,
    *,
    ends_tokens: bool,
) -> Account:
    """Replace an account's password, which ends its sessions, its reset links and what is known of its clients.

    With `ends_tokens` all access tokens that it has made end, too, also those for projects.
    """
    connection = transaction.connection
    if ends_tokens:
        await accounts_store.delete_account_tokens(connection, account.id)
    await accounts_store.set_password_hash(connection, account.id, password_hash)
    await accounts_store.spend_resets(connection, account.id, now)
    await sessions_store.end_sessions(connection, account.id)
    # Someone who knew the old password may have logged in.
    await accounts_store.forget_clients(connection, account.id, until=now)
    changed = replace(account, password_hash=password_hash)
    await record(transaction, change_of(actor, action, now, Scope(), before=account, after=changed))
    return changed


async def end_session(
    transaction: Transaction, actor: Actor, account_id: UUID, session_id: UUID, now: datetime
) -> None:
    """End a session of an account immediately on every instance; raises Error NOT_FOUND."""
    connection = transaction.connection
    await accounts_store.lock_account(connection, account_id)
    session = await sessions_store.find_session(connection, account_id, session_id, now)
    if session is None:
        raise not_found("session")
    await sessions_store.end(connection, [session.id])
    await record(transaction, change_of(actor, "account.session_ended", now, Scope(), before=session))


async def end_other_sessions(transaction: Transaction, actor: Actor, account_id: UUID, now: datetime) -> None:
    """End the sessions of an account but the one in which the actor acts, immediately on every instance."""
    connection = transaction.connection
    await accounts_store.lock_account(connection, account_id)
    present = await sessions_store.list_sessions(connection, account_id, now)
    others = [each for each in present if each.id != actor.session_id]
    await sessions_store.end(connection, [each.id for each in others])
    for each in others:
        await record(transaction, change_of(actor, "account.session_ended", now, Scope(), before=each))
