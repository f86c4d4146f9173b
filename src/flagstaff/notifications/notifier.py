"""Mails members what concerns them: it follows the audit trail, gathers for a minute, and sends one mail for it all.

A position in each project says how far its changes were examined, so that a change is gathered once, whatever process
ends. Nothing here is on the way of a request. A mail may be sent twice if a process ends while it sends it.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import structlog

from flagstaff.audit import changes_store
from flagstaff.audit.changes import Change, NumberedChange
from flagstaff.audit.pages import change_page, project_page
from flagstaff.audit.wording import say_alterations, say_what
from flagstaff.database.database import Connection, Database
from flagstaff.flags import flags_store
from flagstaff.identity.accounts import accounts_store
from flagstaff.mail.digest import Digest, Entry
from flagstaff.notifications import notifications_store
from flagstaff.notifications.notifications import (
    DEFAULTS,
    GROUPED_FOR,
    MAILS_PER_HOUR,
    STALE_EVERY,
    WAITING_MAX,
    Kind,
    Recipient,
    reason_to_tell,
)
from flagstaff.notifications.notifications_store import Group, StaleFlag, Waiting
from flagstaff.notifications.unsubscribing import Subscription, UnsubscribeTokens
from flagstaff.projects import environments_store, members_store
from flagstaff.projects.projects import Environment
from flagstaff.values.errors import Code, Error

log = structlog.get_logger(__name__)

FOLLOW_SECONDS = 15.0
REMIND_SECONDS = 3600.0
_HELD_FOR = timedelta(minutes=5)  # far longer than all attempts at a mail
_HOUR = timedelta(hours=1)
_PROJECTS_AT_ONCE = 500
_CHANGES_AT_ONCE = 200
_MAILS_AT_ONCE = 50
_SHOWN_MAX = 50


@dataclass(slots=True)
class Notifier:
    """What follows and sends. `send_digest` sends one mail to an address, and logs what fails."""

    database: Database
    now: Callable[[], datetime]
    public_url: str
    tokens: UnsubscribeTokens
    send_digest: Callable[[str, Digest], Awaitable[None]]

    async def run_once(self) -> None:
        """Gather what is new, and mail what has waited for long enough."""
        await self.follow()
        await self.send()

    async def follow(self) -> None:
        """Examine the changes that were not examined, and note whom they concern."""
        async with self.database.read() as connection:
            behind = await notifications_store.list_behind(connection, _PROJECTS_AT_ONCE)
        for project_id in behind:
            try:
                await self._examine(project_id)
            except Error as error:
                if error.code is not Code.NOT_FOUND:  # the project was deleted meanwhile
                    raise

    async def send(self) -> None:
        """Send the mails that are due."""
        now = self.now()
        async with self.database.read() as connection:
            ready = await notifications_store.list_ready(connection, now - GROUPED_FOR, now, _MAILS_AT_ONCE)
        for group in ready:
            waiting = await self._take(group)
            if waiting:
                await self._send(group, waiting)
                async with self.database.transaction() as transaction:
                    await notifications_store.delete_waiting(transaction.connection, [each.id for each in waiting])
        if ready:
            async with self.database.transaction() as transaction:
                await notifications_store.purge_mails(transaction.connection, now - _HOUR)

    async def remind(self) -> None:
        """Tell the owners of stale flags, once a week."""
        async with self.database.read() as connection:
            groups = await notifications_store.list_to_remind(connection, self.now() - STALE_EVERY, _MAILS_AT_ONCE)
        for group in groups:
            await self._remind(group)

    async def _examine(self, project_id: UUID) -> None:
        more = True
        while more:
            async with self.database.read() as connection:
                position = await notifications_store.find_position(connection, project_id)
                numbers = []
                if position is not None:
                    numbers = await notifications_store.list_numbers_after(
                        connection, project_id, position, _CHANGES_AT_ONCE
                    )
                rows = await self._find_concerned(connection, project_id, numbers) if numbers else []
            async with self.database.transaction() as transaction:
                connection = transaction.connection
                if position is None:
                    await notifications_store.begin(connection, project_id)
                elif not numbers or not await notifications_store.advance(
                    connection, project_id, position, numbers[-1]
                ):
                    return
                elif rows:
                    await notifications_store.add_waiting(connection, rows)
            more = len(numbers) == _CHANGES_AT_ONCE

    async def _find_concerned(
        self, connection: Connection, project_id: UUID, numbers: Sequence[int]
    ) -> list[dict[str, object]]:
        """The rows of those whom changes concern."""
        made = await changes_store.list_between(connection, project_id, numbers[0], numbers[-1], len(numbers))
        recipients = await _list_recipients(connection, project_id)
        environments = {each.id: each for each in await environments_store.list_environments(connection, project_id)}
        has_critical = any(each.critical for each in environments.values())
        waiting = await notifications_store.count_waiting(connection, project_id)
        rows: list[dict[str, object]] = []
        for each in made:
            scope = each.change.scope
            environment = environments.get(scope.environment_id) if scope.environment_id else None
            if scope.environment_id is not None and environment is None:
                continue  # deleted since: nothing is left to look at
            owner = await _find_owner(connection, each, environment)
            for recipient in recipients:
                account_id = recipient.member.account_id
                kind = reason_to_tell(recipient, each.change, environment, owner, has_critical=has_critical)
                if kind is None or waiting.get(account_id, 0) >= WAITING_MAX:
                    continue
                waiting[account_id] = waiting.get(account_id, 0) + 1
                rows.append(
                    {
                        "project_id": project_id,
                        "account_id": account_id,
                        "kind": kind.value,
                        "change": each.number,
                        "created_at": self.now(),
                    }
                )
        return rows

    async def _take(self, group: Group) -> list[Waiting]:
        """Hold what a member is to be told; nothing if the member has got too many mails, or another process has it."""
        now = self.now()
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            if not await self._may_send(connection, group.account_id, now):
                return []
            waiting = await notifications_store.take(connection, group, now, now + _HELD_FOR)
            if waiting:
                await notifications_store.record_mail(connection, group.account_id, now)
            return waiting

    async def _may_send(self, connection: Connection, account_id: UUID, now: datetime) -> bool:
        await accounts_store.lock_account(connection, account_id)  # so that two processes do not count at once
        return await notifications_store.count_mails(connection, account_id, now - _HOUR) < MAILS_PER_HOUR

    async def _send(self, group: Group, waiting: Sequence[Waiting]) -> None:
        async with self.database.read() as connection:
            address = await notifications_store.find_address(connection, group)
            environments = {
                each.id: each for each in await environments_store.list_environments(connection, group.project_id)
            }
            made = []
            for each in waiting[:_SHOWN_MAX]:
                change = await changes_store.find_project_change(connection, group.project_id, each.change)
                if change is not None:
                    made.append(NumberedChange(each.change, change))
        if address is None or not made:
            return
        entries = [self._entry(each.change, environments) for each in made]
        digest = Digest(
            subject=_subject(made, len(waiting), environments),
            intro=f"This has changed in the project {address.project}:",
            entries=entries,
            more=len(waiting) - len(entries),
            reason=_reason({each.kind for each in waiting}),
            unsubscribe_token=self.tokens.make(Subscription(*group)),
        )
        await self.send_digest(address.email, digest)

    async def _remind(self, group: Group) -> None:
        now = self.now()
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            if not await self._may_send(connection, group.account_id, now):
                return
            wanted = await notifications_store.find_wanted(connection, group.project_id, group.account_id)
            flags = await notifications_store.list_stale(connection, group, WAITING_MAX)
            address = await notifications_store.find_address(connection, group)
            await notifications_store.record_reminder(connection, group, now)
            if not wanted[Kind.STALE] or not flags or address is None:
                return
            await notifications_store.record_mail(connection, group.account_id, now)
        digest = Digest(
            subject="A flag of yours may be removed"
            if len(flags) == 1
            else f"{len(flags)} flags of yours may be removed",
            intro=f"These flags in the project {address.project} are yours, and they may be removed: they are not "
            "evaluated any more, or their result is the same for everyone, or nobody has changed them for a long time. "
            "Flags that are meant to stay can be marked so.",
            entries=[self._stale_entry(group.project_id, each) for each in flags[:_SHOWN_MAX]],
            more=max(0, len(flags) - _SHOWN_MAX),
            reason=_reason({Kind.STALE}),
            unsubscribe_token=self.tokens.make(Subscription(*group)),
        )
        await self.send_digest(address.email, digest)

    def _entry(self, change: Change, environments: dict[UUID, Environment]) -> Entry:
        environment = environments.get(change.scope.environment_id) if change.scope.environment_id else None
        link, place = change_page(self.public_url, change, environment), ""
        if environment is not None:
            place = f"{environment.name} (critical)" if environment.critical else environment.name
        if change.action == "webhook.disabled":
            return Entry(
                f"The webhook to {(change.after or {}).get('host')} was switched off, because its receiver does not "
                "accept messages",
                place,
                change.at,
                (),
                link,
            )
        altered = [] if change.action == "flag.toggled" else say_alterations(change.before, change.after)
        return Entry(say_what(change), place, change.at, altered, link)

    def _stale_entry(self, project_id: UUID, flag: StaleFlag) -> Entry:
        project = project_page(self.public_url, project_id)
        link = f"{project}/environments/{flag.environment_id}/flags/{flag.flag_id}"
        return Entry(f"{flag.name} ({flag.key})", flag.environment, None, (), link)


async def _list_recipients(connection: Connection, project_id: UUID) -> list[Recipient]:
    chosen = await notifications_store.list_wanted(connection, project_id)
    return [
        Recipient(
            member, frozenset(kind for kind, is_wanted in chosen.get(member.account_id, DEFAULTS).items() if is_wanted)
        )
        for member in await members_store.list_members(connection, project_id)
    ]


async def _find_owner(connection: Connection, numbered: NumberedChange, environment: Environment | None) -> str | None:
    """The owner of the flag that was changed, as it was written then, or now for a change to a rule."""
    change = numbered.change
    if change.action.startswith("flag."):
        owner: str | None = (change.after or change.before or {}).get("owner")
        return owner
    if change.scope.flag_id is None or environment is None:
        return None
    flag = await flags_store.find_flag(connection, environment.project_id, environment.id, change.scope.flag_id)
    return flag.owner if flag else None


def _subject(made: Sequence[NumberedChange], count: int, environments: dict[UUID, Environment]) -> str:
    """The subject, in ASCII: it has keys, which are, and no names."""
    change = made[0].change
    environment = environments.get(change.scope.environment_id) if change.scope.environment_id else None
    where = f" in {environment.key}" if environment else ""
    if count > 1:
        return f"{count} changes{where}" if _are_in_one_place(made) else f"{count} changes"
    if change.action == "webhook.disabled":
        return "A webhook was switched off"
    what = f"{change.scope.flag_key}: " if change.scope.flag_key else ""
    if change.action == "flag.toggled":
        return f"{what}turned {'on' if (change.after or {}).get('enabled') else 'off'}{where}"
    kind, _, verb = change.action.partition(".")
    return f"{what}{kind} {verb}{where}"


def _are_in_one_place(made: Sequence[NumberedChange]) -> bool:
    return len({each.change.scope.environment_id for each in made}) == 1


_REASONS = {
    Kind.CRITICAL: "a critical environment of this project was changed",
    Kind.OWNED: "flags that you own were changed",
    Kind.STALE: "flags that you own may be removed",
    Kind.WEBHOOKS: "you manage the webhooks of this project",
}


def _reason(kinds: set[Kind]) -> str:
    told = [_REASONS[kind] for kind in Kind if kind in kinds]
    return f"You get this mail because {' and '.join(told)}."
