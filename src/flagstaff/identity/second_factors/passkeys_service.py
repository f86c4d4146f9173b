"""Passkeys: registered, removed, and used as the second factor or as the only one."""

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from types import ModuleType
from typing import Any
from uuid import UUID

from uuid_utils.compat import uuid7

from flagstaff.changes.changes import Actor, Scope, change_of
from flagstaff.database.changes_store import record
from flagstaff.database.database import Connection, Database
from flagstaff.identity.accounts.accounts import Account
from flagstaff.identity.accounts.confirmations import Confirmations, lock
from flagstaff.identity.second_factors import passkeys_store, second_factors_store
from flagstaff.identity.second_factors.passkeys import PASSKEYS_MAX, Assertion, Credential, Passkey, Site, handle_of
from flagstaff.identity.second_factors.recovery_codes import (
    RecoveryCodeHashes,
    forget_without_factors,
    issue_first_codes,
)
from flagstaff.identity.second_factors.second_factors import CHALLENGE_LIFETIME, Purpose
from flagstaff.identity.second_factors.second_factors_store import Challenge
from flagstaff.identity.sessions.tokens import hash_token
from flagstaff.values.errors import Code, Error, invalid_field, not_found

_CREDENTIAL = "credential"


@dataclass(frozen=True, slots=True)
class Passkeys:
    """The use cases of passkeys."""

    database: Database
    now: Callable[[], datetime]
    confirmations: Confirmations
    site: Site
    hashes: RecoveryCodeHashes

    async def begin_registration(self, actor: Actor, *, current_password: str, client: str = "") -> dict[str, Any]:
        """The options for the browser to make a passkey; valid for five minutes.

        Raises:
            Error: UNAUTHENTICATED for a wrong password; CONFLICT if the actor has as many passkeys as are allowed, or
                browsers offer none at the public URL.
        """
        self._require_site()
        challenge = secrets.token_urlsafe(32)
        async with self.confirmations.confirmed(actor, current_password, client) as (transaction, account):
            connection = transaction.connection
            present = await passkeys_store.list_passkeys(connection, account.id)
            _require_room(present)
            await self._create_challenge(connection, challenge, Purpose.REGISTRATION, account.id)
        options: dict[str, Any] = (await _assertions()).registration_options(self.site, account, challenge, present)
        return options

    async def register(self, actor: Actor, *, name: str, credential: Credential) -> tuple[Passkey, list[str]]:
        """Register a passkey; returns it and, if it is the first second factor, recovery codes.

        Raises:
            Error: INVALID if the passkey was not made for this account, this site and just now; CONFLICT if it is
                registered already.
        """
        assert actor.account_id is not None
        given, now = await self._read(credential, _CREDENTIAL), self.now()
        assertions = await _assertions()
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            account = await lock(connection, actor.account_id)
            token_hash = hash_token(given.challenge)
            begun = await second_factors_store.find_challenge(connection, token_hash, Purpose.REGISTRATION, now)
            if begun is None or begun.account_id != account.id:
                raise invalid_field(_CREDENTIAL, "was created for a registration that is unknown, used or expired")
            try:
                verified = assertions.verify_registration(self.site, credential, given.challenge)
            except ValueError as error:
                raise invalid_field(_CREDENTIAL, str(error)) from error
            await second_factors_store.spend_challenge(connection, token_hash)
            _require_room(await passkeys_store.list_passkeys(connection, account.id))
            passkey = Passkey(
                id=uuid7(),
                account_id=account.id,
                credential_id=verified.credential_id,
                public_key=verified.credential_public_key,
                sign_count=verified.sign_count,
                name=name,
                created_at=now,
                last_used_at=None,
            )
            await passkeys_store.create_passkey(connection, passkey)
            codes = await issue_first_codes(connection, account.id)
            change = change_of(actor, "account.passkey_added", now, Scope(), before=account, after=account)
            await record(transaction, change)
        if codes:
            self.hashes.start_slowing(account.id)
        return passkey, codes

    async def remove(self, actor: Actor, passkey_id: UUID, *, current_password: str, client: str = "") -> None:
        """Remove a passkey; raises Error UNAUTHENTICATED for a wrong password, NOT_FOUND."""
        async with self.confirmations.confirmed(actor, current_password, client) as (transaction, account):
            connection = transaction.connection
            if not await passkeys_store.delete_passkey(connection, account.id, passkey_id):
                raise not_found("passkey")
            await forget_without_factors(connection, account.id)
            change = change_of(actor, "account.passkey_removed", self.now(), Scope(), before=account, after=account)
            await record(transaction, change)

    async def begin_login(self) -> dict[str, Any]:
        """The options for the browser to log in with a passkey that its user chooses; raises Error CONFLICT."""
        self._require_site()
        challenge = secrets.token_urlsafe(32)
        async with self.database.transaction() as transaction:
            await self._create_challenge(transaction.connection, challenge, Purpose.PASSKEY, None)
        options: dict[str, Any] = (await _assertions()).authentication_options(self.site, challenge, [])
        return options

    async def log_in(self, credential: Credential) -> Account:
        """The account of a passkey whose user the authenticator has verified, which is two factors.

        Raises:
            Error: INVALID for what is no credential of this site; UNAUTHENTICATED for a passkey that is not registered
                or a challenge that is unknown, used or expired.
        """
        given, now = await self._read(credential, _CREDENTIAL), self.now()
        token_hash = hash_token(given.challenge)
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            if await second_factors_store.find_challenge(connection, token_hash, Purpose.PASSKEY, now) is None:
                raise _ended_challenge()
            known = await passkeys_store.find_passkey_by_credential(connection, given.credential_id)
            if known is None or given.user_handle not in (None, handle_of(known.account_id)):
                raise Error(Code.UNAUTHENTICATED, "This passkey is not registered here, or has been removed.")
            account = await lock(connection, known.account_id)
            await self.accept(connection, account.id, credential, given, field=_CREDENTIAL)
            if not await second_factors_store.spend_challenge(connection, token_hash):
                raise _ended_challenge()
        return account

    async def accept(
        self, connection: Connection, account_id: UUID, credential: Credential, given: Assertion, *, field: str
    ) -> None:
        """Accept the use of an account's passkey, and advance its counter. Lock the account first.

        Raises:
            Error: INVALID at `field`.
        """
        # After the lock, so that it has the newest counter.
        passkey = await passkeys_store.find_passkey_by_credential(connection, given.credential_id)
        if passkey is None or passkey.account_id != account_id:
            raise invalid_field(field, "is not a passkey of this account")
        try:
            sign_count = (await _assertions()).verify_assertion(self.site, credential, given.challenge, passkey)
        except ValueError as error:
            raise invalid_field(field, str(error)) from error
        await passkeys_store.record_use(connection, passkey.id, sign_count, self.now())

    async def read(self, credential: Credential, challenge: str, *, field: str) -> Assertion:
        """The readable part of an answer to this challenge; raises Error INVALID at `field`."""
        given = await self._read(credential, field)
        if given.challenge != challenge:
            raise invalid_field(field, "answers another challenge")
        return given

    async def find_options(self, connection: Connection, account_id: UUID, challenge: str) -> dict[str, Any] | None:
        """The options for the browser to answer a challenge with a passkey of an account, if it has any."""
        found = await passkeys_store.list_passkeys(connection, account_id)
        if not found:
            return None
        options: dict[str, Any] = (await _assertions()).authentication_options(self.site, challenge, found)
        return options

    async def _read(self, credential: Credential, field: str) -> Assertion:
        assertions = await _assertions()
        try:
            given: Assertion = assertions.read_assertion(credential)
        except ValueError as error:
            raise invalid_field(field, str(error)) from error
        if given.origin != self.site.origin:
            raise invalid_field(field, f"was made by a page of another origin; use {self.site.origin}")
        return given

    def _require_site(self) -> None:
        if not self.site.allows_passkeys:
            raise Error(
                Code.CONFLICT,
                f"Browsers offer no passkeys at {self.site.origin}. Ask the operator to set FLAGSTAFF_PUBLIC_URL to an "
                "https address with a host name.",
            )

    async def _create_challenge(
        self, connection: Connection, challenge: str, purpose: Purpose, account_id: UUID | None
    ) -> None:
        made = Challenge(purpose, account_id, stamp=None)
        expires_at = self.now() + CHALLENGE_LIFETIME
        await second_factors_store.create_challenge(connection, hash_token(challenge), made, expires_at=expires_at)


async def _assertions() -> ModuleType:
    """The module assertions.py. It is loaded in a thread, where it does not hold the event loop for 50 ms."""
    return await asyncio.to_thread(import_module, "flagstaff.identity.second_factors.assertions")


def _ended_challenge() -> Error:
    return Error(Code.UNAUTHENTICATED, "The challenge is unknown, has been used or has expired. Start again.")


def _require_room(present: list[Passkey]) -> None:
    if len(present) >= PASSKEYS_MAX:
        raise Error(Code.CONFLICT, f"The account has {PASSKEYS_MAX} passkeys, which is the maximum. Remove one.")
