"""Idempotency keys: a repeated request is carried out once, and gets the same response as the first time.

The response is stored in the same transaction as the change, so both survive or neither does. Of several equal
requests, on any instance, one is carried out while the others wait for it.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from flagstaff.domain.changes import Actor, Change, Scope
from flagstaff.domain.errors import Code, Error
from flagstaff.storage import idempotency
from flagstaff.storage.database import Database
from flagstaff.storage.idempotency import StoredAnswer
from flagstaff.storage.revisions import find_project_revision

KEY_LIFETIME = timedelta(hours=24)
KEYS_PER_ACCOUNT = 10_000


@dataclass(frozen=True, slots=True)
class Answer:
    """The response to a request: an HTTP status and a JSON body."""

    status: int
    body: bytes
    is_replayed: bool = False


@dataclass(frozen=True, slots=True)
class Idempotency:
    """The use cases of idempotency keys."""

    database: Database
    now: Callable[[], datetime]

    async def carry_out_once(
        self, actor: Actor, key: str, *, fingerprint: bytes, carry_out: Callable[[], Awaitable[Answer]]
    ) -> Answer:
        """The response from `carry_out`, or the one to this actor's request with the same key in the last 24 hours.

        If `carry_out` raises, its changes are rolled back and the key is unused.

        Raises:
            Error: CONFLICT when the key was used for a request with another fingerprint, LIMITED when the account has
                stored too many keys.
        """
        assert actor.account_id is not None
        # An access token must not get the responses to others. No key contains a space.
        key = f"{actor.token.id} {key}" if actor.token else key
        now = self.now()
        async with self.database.shared_transaction() as transaction:
            connection = transaction.connection
            stored = await idempotency.claim(
                connection, actor.account_id, key, fingerprint=fingerprint, now=now, expired_at=now - KEY_LIFETIME
            )
            if stored is None:
                if await idempotency.count_keys(connection, actor.account_id) > KEYS_PER_ACCOUNT:
                    raise _too_many(await idempotency.oldest_key(connection, actor.account_id), now)
                answer = await carry_out()
                scope = _common_scope(transaction.changes)
                await idempotency.store_answer(
                    connection, actor.account_id, key, scope=scope, status=answer.status, body=answer.body
                )
                return answer
            if stored.fingerprint != fingerprint:
                raise Error(
                    Code.CONFLICT, "This Idempotency-Key was used for another request. Use a new key for each request."
                )
            # Announced again but not recorded: the first request may have ended before every instance had confirmed it.
            transaction.changes.append(_announcement(actor, stored, now))
            if stored.project_id is not None:
                transaction.revision = await find_project_revision(connection, stored.project_id)
            return Answer(stored.status, stored.body, is_replayed=True)

    async def purge(self) -> None:
        """Delete expired keys in small steps."""
        more = True
        while more:
            async with self.database.transaction() as transaction:
                more = await idempotency.delete_some_before(transaction.connection, self.now() - KEY_LIFETIME)


def _common_scope(changes: Sequence[Change]) -> Scope:
    """The environment of all changes, or their project if they are of several, as those of a new project are."""
    if not changes:
        return Scope()
    first = changes[0].scope
    is_one = all(change.scope.environment_id == first.environment_id for change in changes)
    return Scope(first.project_id, first.environment_id if is_one else None)


def _announcement(actor: Actor, stored: StoredAnswer, now: datetime) -> Change:
    resource_id = stored.environment_id or stored.project_id or actor.account_id
    assert resource_id is not None
    scope = Scope(stored.project_id, stored.environment_id)
    return Change(now, actor, "request.replayed", resource_id, scope, before=None, after=None)


def _too_many(oldest: datetime, now: datetime) -> Error:
    wait_seconds = max(1, int((oldest + KEY_LIFETIME - now).total_seconds()) + 1)
    return Error(
        Code.LIMITED,
        f"This account has used {KEYS_PER_ACCOUNT:,} Idempotency-Keys within 24 hours. Send the request without one, "
        "or try again later.",
        retry_after_seconds=wait_seconds,
    )
