"""Second factors of accounts: enrolled, removed, and asked for at login."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from flagstaff.changes.changes import Actor, Scope, change_of
from flagstaff.database.changes_store import record
from flagstaff.database.database import Connection, Database, Transaction
from flagstaff.identity.accounts.accounts import Account
from flagstaff.identity.accounts.confirmations import Confirmations, lock
from flagstaff.identity.second_factors import second_factors_store
from flagstaff.identity.second_factors.code_verification import CodeProof, accept, require_few_failures
from flagstaff.identity.second_factors.passkeys import Credential
from flagstaff.identity.second_factors.passkeys_service import Passkeys
from flagstaff.identity.second_factors.passkeys_store import list_passkeys
from flagstaff.identity.second_factors.recovery_codes import (
    RecoveryCodeHashes,
    find_methods,
    forget_without_factors,
    issue_first_codes,
    renew_codes,
)
from flagstaff.identity.second_factors.sealing import Sealer
from flagstaff.identity.second_factors.second_factors import (
    CHALLENGE_LIFETIME,
    ENROLMENT_LIFETIME,
    FAILURES_COUNTED_FOR,
    Enrolment,
    Method,
    Purpose,
    TotpSecret,
    TwoFactorState,
)
from flagstaff.identity.second_factors.second_factors_store import Challenge
from flagstaff.identity.sessions.tokens import Tokens, hash_token
from flagstaff.values.errors import Code, Error

Proof = CodeProof | Credential
"""A code, or the answer of a passkey."""

_ISSUER = "Flagstaff"


@dataclass(frozen=True, slots=True)
class SecondFactors:
    """The use cases of second factors. Those that change one require the account's password."""

    database: Database
    now: Callable[[], datetime]
    confirmations: Confirmations
    tokens: Tokens
    sealer: Sealer
    passkeys: Passkeys
    hashes: RecoveryCodeHashes

    async def get_state(self, actor: Actor) -> TwoFactorState:
        """The actor's second factors."""
        assert actor.account_id is not None
        async with self.database.read() as connection:
            secret = await second_factors_store.find_totp(connection, actor.account_id)
            found = await list_passkeys(connection, actor.account_id)
            left = await second_factors_store.count_recovery_codes(connection, actor.account_id)
            meets_demand = await second_factors_store.has_second_factor(connection, actor.account_id)
        return TwoFactorState(secret.confirmed_at if secret else None, found, left, meets_demand)

    async def begin_totp(self, actor: Actor, *, current_password: str, client: str = "") -> Enrolment:
        """A new secret for the actor's app, which counts after `confirm_totp`. It replaces one that was not confirmed.

        Raises:
            Error: UNAUTHENTICATED for a wrong password, CONFLICT if the actor has an app already.
        """
        import pyotp  # noqa: PLC0415 -- see code_verification.py

        secret, now = pyotp.random_base32(), self.now()
        async with self.confirmations.confirmed(actor, current_password, client) as (transaction, account):
            await self._require_no_totp(transaction.connection, account.id)
            sealed = self.sealer.seal(secret.encode(), account.id.bytes)
            unconfirmed = TotpSecret(account.id, sealed, created_at=now, confirmed_at=None, last_step=None)
            await second_factors_store.save_totp(transaction.connection, unconfirmed)
        return Enrolment(secret, pyotp.TOTP(secret).provisioning_uri(name=account.email, issuer_name=_ISSUER))

    async def confirm_totp(self, actor: Actor, *, code: str) -> list[str]:
        """Ask for codes from now on; returns the recovery codes, which nobody can read again.

        Raises:
            Error: INVALID for a wrong code, CONFLICT if none was begun within an hour, LIMITED.
        """
        assert actor.account_id is not None
        now = self.now()
        codes: list[str] = []
        proof = CodeProof(Method.TOTP, code)
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            account = await lock(connection, actor.account_id)
            await self._require_no_totp(connection, account.id)
            secret = await second_factors_store.find_totp(connection, account.id)
            if secret is None or secret.created_at <= now - ENROLMENT_LIFETIME:
                raise Error(Code.CONFLICT, "There is no enrolment to confirm, or it has expired. Start a new one.")
            accepted = await accept(connection, self.sealer, account.id, proof, now, is_enrolling=True)
            if accepted:
                used = await second_factors_store.find_totp(connection, account.id)
                assert used is not None
                await second_factors_store.save_totp(connection, replace(used, confirmed_at=now))
                codes = await issue_first_codes(connection, account.id)
                await self._record(transaction, actor, account, "account.totp_enabled")
        if not accepted:
            raise proof.refusal()
        if codes:
            self.hashes.start_slowing(account.id)
        return codes

    async def disable_totp(self, actor: Actor, *, current_password: str, proof: CodeProof, client: str = "") -> None:
        """Ask for no more codes; the recovery codes end.

        Raises:
            Error: UNAUTHENTICATED for a wrong password, INVALID for a wrong code, CONFLICT if codes are not asked for,
                LIMITED.
        """
        assert actor.account_id is not None
        proof = await self._with_hashes(actor.account_id, proof, client)
        async with self.confirmations.confirmed(actor, current_password, client) as (transaction, account):
            connection = transaction.connection
            secret = await second_factors_store.find_totp(connection, account.id)
            if secret is None or secret.confirmed_at is None:
                raise _not_enabled()
            accepted = await accept(connection, self.sealer, account.id, proof, self.now())
            if accepted:
                await second_factors_store.delete_totp(connection, account.id)
                await forget_without_factors(connection, account.id)
                await self._record(transaction, actor, account, "account.totp_disabled")
        if not accepted:
            raise proof.refusal()

    async def renew_recovery_codes(self, actor: Actor, *, current_password: str, client: str = "") -> list[str]:
        """New recovery codes; the previous ones end.

        Raises:
            Error: UNAUTHENTICATED for a wrong password, CONFLICT without a second factor.
        """
        async with self.confirmations.confirmed(actor, current_password, client) as (transaction, account):
            if not await find_methods(transaction.connection, account.id):
                raise _not_enabled()
            codes = await renew_codes(transaction.connection, account.id)
            await self._record(transaction, actor, account, "account.recovery_codes_renewed")
        self.hashes.start_slowing(account.id)
        return codes

    async def require_none(self, account: Account, **more: str | None) -> None:
        """Raise Error MFA_REQUIRED if an account that has passed the first step of a sign-in has a second factor.

        The error has a challenge, and `more` that the client needs afterwards.
        """
        challenge = secrets.token_urlsafe(32)
        async with self.database.read() as connection:
            methods = await find_methods(connection, account.id)
            if not methods:
                return
            options = await self.passkeys.find_options(connection, account.id, challenge)
        async with self.database.transaction() as transaction:
            await second_factors_store.create_challenge(
                transaction.connection,
                hash_token(challenge),
                Challenge(Purpose.LOGIN, account.id, self.tokens.stamp(account)),
                expires_at=self.now() + CHALLENGE_LIFETIME,
            )
        raise Error(
            Code.MFA_REQUIRED,
            "This account has a second factor. Send the challenge with a code or the answer of a passkey to "
            "POST /auth/login/second-factor.",
            extensions={
                "challenge": challenge,
                "methods": methods,
                **more,
                **({"passkey_options": options} if options else {}),
            },
        )

    async def answer(self, *, challenge: str, proof: Proof, client: str = "") -> Account:
        """The account of a challenge, which ends, for a proof of its second factor.

        Raises:
            Error: UNAUTHENTICATED for a challenge that is unknown, used, expired or of an earlier password; INVALID for
                a wrong proof, after which the challenge can be used again; LIMITED.
        """
        token_hash, now = hash_token(challenge), self.now()
        if isinstance(proof, CodeProof) and proof.method is Method.RECOVERY_CODE:
            async with self.database.read() as connection:
                known = await second_factors_store.find_challenge(connection, token_hash, Purpose.LOGIN, now)
            if known is None or known.account_id is None:
                raise _ended_challenge()
            proof = await self._with_hashes(known.account_id, proof, client)
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            waiting = await second_factors_store.find_challenge(connection, token_hash, Purpose.LOGIN, now)
            if waiting is None or waiting.account_id is None:
                raise _ended_challenge()
            account = await lock(connection, waiting.account_id)
            # Another request may have used it before the lock.
            if await second_factors_store.find_challenge(connection, token_hash, Purpose.LOGIN, now) is None:
                raise _ended_challenge()
            if not self.tokens.is_current(account, waiting.stamp or ""):
                raise _ended_challenge()
            accepted = await self._accept(connection, account, challenge, proof)
            if accepted:
                await second_factors_store.spend_challenge(connection, token_hash)
                if isinstance(proof, CodeProof) and proof.method is Method.RECOVERY_CODE:
                    actor = Actor(account.id, account.email)
                    await self._record(transaction, actor, account, "account.recovery_code_used")
        if not accepted:
            assert isinstance(proof, CodeProof)
            raise proof.refusal()
        return account

    async def _with_hashes(self, account_id: UUID, proof: CodeProof, client: str) -> CodeProof:
        """The proof with the hashes of its recovery code, if it is one; raises Error LIMITED before it computes any."""
        if proof.method is not Method.RECOVERY_CODE:
            return proof
        async with self.database.read() as connection:
            await require_few_failures(connection, account_id, self.now())
        return replace(proof, hashes=await self.hashes.of(account_id, proof.code, client))

    async def _accept(self, connection: Connection, account: Account, challenge: str, proof: Proof) -> bool:
        if isinstance(proof, CodeProof):
            return await accept(connection, self.sealer, account.id, proof, self.now())
        given = await self.passkeys.read(proof, challenge, field="passkey")
        await self.passkeys.accept(connection, account.id, proof, given, field="passkey")
        return True

    async def purge(self, now: datetime | None = None) -> None:
        """Delete the challenges that have expired and the failures that no longer count by `now`."""
        now = now or self.now()
        async with self.database.transaction() as transaction:
            await second_factors_store.delete_expired_challenges(transaction.connection, now)
            await second_factors_store.delete_failures(transaction.connection, now - FAILURES_COUNTED_FOR)

    async def _require_no_totp(self, connection: Connection, account_id: UUID) -> None:
        secret = await second_factors_store.find_totp(connection, account_id)
        if secret is not None and secret.confirmed_at is not None:
            raise Error(Code.CONFLICT, "An authenticator app is enrolled already. Disable it first.")

    async def _record(self, transaction: Transaction, actor: Actor, account: Account, action: str) -> None:
        change = change_of(actor, action, self.now(), Scope(), before=account, after=account)
        await record(transaction, change)


def _not_enabled() -> Error:
    return Error(Code.CONFLICT, "The account has no second factor. Enrol one first.")


def _ended_challenge() -> Error:
    return Error(Code.UNAUTHENTICATED, "The challenge is unknown, has been used or has expired. Log in again.")
