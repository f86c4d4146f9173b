"""Previews: the messages that a webhook would have been sent, before it is saved."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from uuid_utils.compat import uuid7

from flagstaff.changes.changes import Actor, NumberedChange, Scope, change_of
from flagstaff.concurrency.pacing import Turns
from flagstaff.database import changes_store
from flagstaff.database.changes_store import record
from flagstaff.database.database import Connection, Database
from flagstaff.hooks.access import open_place
from flagstaff.hooks.client.addresses import Reach
from flagstaff.hooks.events_service import Events, were_made_together
from flagstaff.hooks.messages import compose
from flagstaff.hooks.webhooks import Format, Webhook
from flagstaff.hooks.webhooks_service import check_values
from flagstaff.identity.administration.rights import hold_administrators

PREVIEWED_FOR = timedelta(days=1)
PREVIEWED_MAX = 500
"""The number of changes that a preview examines, the newest ones."""
SHOWN_MAX = 20
"""The number of messages that a preview shows."""
_READ_AT_ONCE = 50


class WouldBeSent(NamedTuple):
    """A message that would have been sent."""

    type: str
    at: datetime
    body: str


@dataclass(frozen=True, slots=True)
class Preview:
    """The messages that would have been sent about the changes since a moment, newest first.

    `count` is the number of all messages, of which the first ones are shown, and `examined` the number of changes.
    `since` is later than a day ago if there were too many.
    """

    since: datetime
    examined: int
    count: int
    messages: Sequence[WouldBeSent]


@dataclass(frozen=True, slots=True)
class Previewed:
    """The request for a preview of the whole instance, as the audit trail records it. `examined` counts changes."""

    id: UUID
    events: tuple[str, ...]
    environments: tuple[str, ...] | None
    tags: tuple[str, ...] | None
    format: Format
    examined: int


@dataclass(frozen=True, slots=True)
class Previews:
    """The use case."""

    database: Database
    now: Callable[[], datetime]
    reach: Reach
    public_url: str

    async def preview(self, actor: Actor, project_id: UUID | None, **values: Any) -> Preview:
        """The messages that a webhook with these values would have been sent about the last day's changes.

        One of the whole instance is recorded in the instance's trail.

        Raises:
            Error: INVALID for an event or an environment that is not accepted, FORBIDDEN.
        """
        now = self.now()
        webhook = Webhook(
            id=uuid7(),
            project_id=project_id,
            url="",
            description=None,
            enabled=True,
            disabled_reason=None,
            owner_id=actor.account_id,
            created_at=now,
            updated_at=now,
            **check_values(values, project_id, self.reach),
        )
        since, examined, count = now - PREVIEWED_FOR, 0, 0
        messages: list[WouldBeSent] = []
        async with self.database.read() as connection:
            await open_place(connection, actor, project_id)
            events, turns = Events(connection, self.public_url), Turns()
            async for group in _list_groups(connection, project_id, since, together=webhook.is_chat):
                await turns.give()
                examined += len(group)
                if examined >= PREVIEWED_MAX:
                    since = group[0].change.at
                event = await events.of_changes(webhook, group)
                if event is None:
                    continue
                count += 1
                if len(messages) < SHOWN_MAX:
                    messages.append(WouldBeSent(event.type, event.at, compose(event, webhook.format).decode()))
        if project_id is None:
            await self._record(actor, webhook, examined)
        return Preview(since, examined, count, messages)

    async def _record(self, actor: Actor, webhook: Webhook, examined: int) -> None:
        """Record who has looked at the changes of all projects. Without a record, nobody sees them."""
        looked = Previewed(webhook.id, webhook.events, webhook.environments, webhook.tags, webhook.format, examined)
        async with self.database.transaction() as transaction:
            await hold_administrators(transaction.connection, actor)
            change = change_of(actor, "instance.webhook_previewed", self.now(), Scope(), after=looked)
            await record(transaction, change)


async def _list_groups(
    connection: Connection, project_id: UUID | None, since: datetime, *, together: bool
) -> AsyncIterator[list[NumberedChange]]:
    """The newest changes since a time, newest first: each alone, or those that were made together.

    They are read some at a time: the states of each can have half a megabyte.
    """
    group: list[NumberedChange] = []
    before: int | None = None
    for _ in range(0, PREVIEWED_MAX, _READ_AT_ONCE):
        newest = await changes_store.list_newest(connection, project_id, before, _READ_AT_ONCE)
        for each in newest:
            if each.change.at < since:
                break
            if group and not (together and were_made_together(group[0], each) and len(group) < _READ_AT_ONCE):
                yield group[::-1]
                group = []
            group.append(each)
        else:
            if len(newest) == _READ_AT_ONCE:
                before = newest[-1].number
                continue
        break
    if group:
        yield group[::-1]
