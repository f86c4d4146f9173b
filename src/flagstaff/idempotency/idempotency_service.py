"""Idempotency keys: a repeated request is carried out once, and gets the same response as the first time.

The response is stored in the same transaction as the change, so both survive or neither does. Of several equal
requests, on any instance, one is carried out while the others wait for it. What is stored is bounded in bytes: for a
request that changed nothing only its key, and beyond the bounds the oldest responses are dropped. A repetition passes
the same checks of permissions again.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from flagstaff.changes.changes import Actor, Change, Scope
from flagstaff.concurrency.claims import claiming, current_claim
from flagstaff.database.database import Connection, Database, Transaction
from flagstaff.database.revisions_store import find_project_revision, record_found
from flagstaff.idempotency import idempotency_store
from flagstaff.idempotency.idempotency_store import Outcome, Place, StoredAnswer
from flagstaff.permissions.members import Member
from flagstaff.permissions.permissions import Check, noting_checks, require
from flagstaff.values.errors import Code, Error

KEY_LIFETIME = timedelta(hours=24)
KEYS_PER_ACCOUNT = 10_000
BYTES_PER_ACCOUNT = 16 * 2**20
BYTES_PER_PROJECT = 64 * 2**20
_GONE = (
    "The request with this Idempotency-Key was carried out, but its response is not stored any more, because newer "
    "responses needed the space. Read the resource to see its current state."
)
_MOVED = (
    "The request with this Idempotency-Key had nothing to change. Since then, someone has changed the resource. "
    "Nothing was changed now. If you still want the change, use a new key."
)


@dataclass(frozen=True, slots=True)
class Answer:
    """The response to a request: an HTTP status and a JSON body, in parts, because some have megabytes."""

    status: int
    parts: Sequence[bytes]
    is_replayed: bool = False


@dataclass(frozen=True, slots=True)
class Idempotency:
    """The use cases of idempotency keys."""

    database: Database
    now: Callable[[], datetime]
    find_membership: Callable[[Connection, Actor, UUID], Awaitable[Member | None]]
    """Find the actor as a member of a project; None if the project has been deleted. Raises Error NOT_FOUND."""

    async def carry_out_once(
        self, actor: Actor, key: str, *, fingerprint: bytes, carry_out: Callable[[], Awaitable[Answer]]
    ) -> Answer:
        """The response from `carry_out`, or the one to this actor's request with the same key in the last 24 hours.

        If `carry_out` raises, its changes are rolled back and the key is unused.

        Raises:
            Error: CONFLICT when the key was used for a request with another fingerprint, when its response was dropped,
                or when it changed nothing and now would; LIMITED when the account has stored too many keys; what
                `require` raises when the actor may not do it any more.
        """
        assert actor.account_id is not None
        # An access token must not get the responses to others. No key contains a space.
        key = f"{actor.token.id} {key}" if actor.token else key
        now = self.now()
        async with self._transaction() as transaction:
            connection = transaction.connection
            stored = await idempotency_store.claim(
                connection, actor.account_id, key, fingerprint=fingerprint, now=now, expired_at=now - KEY_LIFETIME
            )
            if stored is None:
                if await idempotency_store.count_keys(connection, actor.account_id) > KEYS_PER_ACCOUNT:
                    raise _too_many(await idempotency_store.oldest_key(connection, actor.account_id), now)
                with noting_checks() as checks:
                    answer = await carry_out()
                await _store(transaction, actor.account_id, key, answer, checks)
                return answer
            if stored.fingerprint != fingerprint:
                raise Error(
                    Code.CONFLICT, "This Idempotency-Key was used for another request. Use a new key for each request."
                )
            if stored.outcome is Outcome.UNCHANGED:
                answer = await carry_out()  # which checks the permission itself
                if transaction.change is not None:
                    raise Error(Code.CONFLICT, _MOVED)  # which takes the change back
                return replace(answer, is_replayed=True)
            await self._check_again(connection, actor, stored)
            if stored.project_id is not None:  # the first request may have ended before its state was served everywhere
                record_found(connection, stored.project_id, await find_project_revision(connection, stored.project_id))
            if stored.outcome is Outcome.DROPPED:
                raise Error(Code.CONFLICT, _GONE)
            return Answer(stored.status, [stored.body], is_replayed=True)

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[Transaction]:
        """A transaction that locks no project before the key is claimed: `hold_back_claims` needs this order."""
        claim = current_claim()
        with claiming(claim.client, claim.priority):
            async with self.database.shared_transaction() as transaction:
                yield transaction

    async def purge(self, now: datetime | None = None) -> None:
        """Delete the keys that have expired by `now` in small steps."""
        before = (now or self.now()) - KEY_LIFETIME
        more = True
        while more:
            async with self.database.transaction() as transaction:
                more = await idempotency_store.delete_some_before(transaction.connection, before)

    async def _check_again(self, connection: Connection, actor: Actor, stored: StoredAnswer) -> None:
        """Check again what the request needed, in the projects that still exist; raises Error NOT_FOUND, FORBIDDEN."""
        checks = set(stored.checks)
        if not checks and stored.project_id is not None:  # a release without checks has carried it out
            checks.add((stored.project_id, None, None))
        for project_id in {each[0] for each in checks}:
            member = await self.find_membership(connection, actor, project_id)
            for place, permission, environment in checks:
                if member is not None and place == project_id and permission is not None:
                    require(member, permission, environment)


async def _store(transaction: Transaction, account_id: UUID, key: str, answer: Answer, checks: set[Check]) -> None:
    """Store a response within the bounds, or for a request that changed nothing, only that it did so."""
    connection = transaction.connection
    if transaction.change is None and not transaction.has_unrecorded:
        await idempotency_store.store_unchanged(connection, account_id, key, _conflict(_MOVED))
        return
    scope = _common_scope(transaction.changes)
    await idempotency_store.store_answer(
        connection, account_id, key, scope=scope, status=answer.status, body=b"".join(answer.parts), checks=checks
    )
    await idempotency_store.drop_oldest(
        connection, Place("account_id", account_id), BYTES_PER_ACCOUNT, _conflict(_GONE)
    )
    if scope.project_id is not None:
        project = Place("project_id", scope.project_id)
        await idempotency_store.drop_oldest(connection, project, BYTES_PER_PROJECT, _conflict(_GONE))


def _conflict(detail: str) -> bytes:
    """A response that says why the first one is not stored, for releases that do not know of outcomes."""
    return json.dumps({"title": "Conflict", "status": 409, "detail": detail}).encode()


def _common_scope(changes: Sequence[Change]) -> Scope:
    """The environment of all changes, or their project if they are of several, as in a new project."""
    if not changes:
        return Scope()
    first = changes[0].scope
    is_one = all(change.scope.environment_id == first.environment_id for change in changes)
    return Scope(first.project_id, first.environment_id if is_one else None)


def _too_many(oldest: datetime, now: datetime) -> Error:
    wait_seconds = max(1, int((oldest + KEY_LIFETIME - now).total_seconds()) + 1)
    return Error(
        Code.LIMITED,
        f"This account has used {KEYS_PER_ACCOUNT:,} Idempotency-Keys within 24 hours. Send the request without one, "
        "or try again later.",
        retry_after_seconds=wait_seconds,
    )
