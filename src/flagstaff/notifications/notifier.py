"""Mails members what concerns them: it follows the audit trail, gathers for a minute, and sends one mail for it all.

A position in each project says how far its changes were examined, so that a change is gathered once, whatever process
ends. Nothing here is on the way of a request. A mail may be sent twice if a process ends while it sends it.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import structlog

from flagstaff.audit.dashboard_links import change_page, project_page
from flagstaff.changes.changes import Scope
from flagstaff.concurrency.claims import Priority, claiming
from flagstaff.concurrency.pacing import Turns
from flagstaff.database.database import Connection, Database
from flagstaff.mail.digest import Digest, Entry
from flagstaff.mail.mail_limits import HeldBackError
from flagstaff.notifications import made_changes_store, notifications_store, wanted_mails_store
from flagstaff.notifications.mailing import HOUR, SHOWN_MAX, find_email, may_send, say_reason
from flagstaff.notifications.mentions import Mention
from flagstaff.notifications.mentions_store import list_mentions
from flagstaff.notifications.notifications import (
    DEFAULTS,
    GROUPED_FOR,
    HELD_FOR,
    KEPT_FOR,
    URGENT,
    WAITING_MAX,
    Made,
    Recipients,
    name_author,
    say_briefly,
    say_who,
    targets_of,
)
from flagstaff.notifications.notifications_store import Waiting
from flagstaff.notifications.subscriptions_store import list_subscribed
from flagstaff.notifications.unsubscribing import Recipient, UnsubscribeTokens
from flagstaff.projects import environments_store, projects_store
from flagstaff.projects.members import members_store
from flagstaff.projects.projects import Environment
from flagstaff.values.errors import Code, Error

log = structlog.get_logger(__name__)

FOLLOW_SECONDS = 15.0
_PROJECTS_AT_ONCE = 500
_CHANGES_AT_ONCE = 50
_MAILS_AT_ONCE = 50

Environments = dict[UUID, Environment]


class _Taken(NamedTuple):
    """The messages that are held for a member, and the id of the count of the mail."""

    waiting: Sequence[Waiting]
    mail_id: UUID


@dataclass(slots=True)
class Notifier:
    """Follows the audit trail and sends mails.

    `send_digest` returns whether the mail server has taken the mail, or never will. It raises HeldBackError for one
    that must wait because too many were sent.
    """

    database: Database
    now: Callable[[], datetime]
    public_url: str
    tokens: UnsubscribeTokens
    send_digest: Callable[[str, Digest], Awaitable[bool]]

    async def run_once(self) -> None:
        """Gather what is new, and mail what has waited for long enough."""
        with claiming("mails", Priority.LONG):
            await self.follow()
            await self.send()

    async def follow(self) -> None:
        """Examine the changes that were not examined, and note whom they concern."""
        async with self.database.read() as connection:
            behind = await made_changes_store.list_behind(connection, _PROJECTS_AT_ONCE)
        for project_id in behind:
            try:
                await self._examine(project_id)
            except Error as error:  # such as of a project that was deleted meanwhile: others go on
                if error.code is Code.UNAVAILABLE:
                    raise
                log.warning("changes_not_examined", project=str(project_id), reason=error.message)

    async def send(self) -> None:
        """Send the mails that are due, until the mail server takes none."""
        now = self.now()
        async with self.database.read() as connection:
            ready = await notifications_store.list_ready(connection, now - GROUPED_FOR, now, now - HOUR, _MAILS_AT_ONCE)
        for member in ready:
            taken = await self._take(member)
            if taken is None:
                continue
            try:
                is_sent = await self._send(member, taken.waiting)
            except HeldBackError:
                is_sent, goes_on = False, True  # there may be room for others' mails
            else:
                goes_on = is_sent
            async with self.database.transaction() as transaction:
                if is_sent:
                    await notifications_store.delete_waiting(
                        transaction.connection, [each.id for each in taken.waiting]
                    )
                else:  # what is held is tried again
                    await notifications_store.forget_mail(transaction.connection, taken.mail_id)
            if not goes_on:
                break
        if ready:
            async with self.database.transaction() as transaction:
                await notifications_store.purge_mails(transaction.connection, now - HOUR)
                await notifications_store.delete_waiting_since(transaction.connection, now - KEPT_FOR)

    async def _examine(self, project_id: UUID) -> None:
        more = True
        while more:
            async with self.database.read() as connection:
                position = await made_changes_store.find_position(connection, project_id)
                made = []
                if position is not None:
                    made = await made_changes_store.list_after(connection, project_id, position, _CHANGES_AT_ONCE)
                rows = await self._find_concerned(connection, project_id, made) if made else []
            async with self.database.transaction() as transaction:
                connection = transaction.connection
                project = await projects_store.find_project_for_update(connection, project_id)
                if project is None:
                    return  # first, as every write to a project does
                if position is None:
                    # An older one was made before the server sent such mails: its members know what was changed.
                    is_new = project.created_at > self.now() - HOUR
                    await made_changes_store.begin(connection, project_id, is_new=is_new)
                elif not made or not await made_changes_store.advance(
                    connection, project_id, position, made[-1].number
                ):
                    return
                elif rows:
                    await notifications_store.add_waiting(connection, rows)
            more = position is None or len(made) == _CHANGES_AT_ONCE

    async def _find_concerned(
        self, connection: Connection, project_id: UUID, made: Sequence[Made]
    ) -> list[dict[str, object]]:
        """The rows of those whom changes concern."""
        recipients = await _list_recipients(connection, project_id, made)
        environments = await _list_environments(connection, project_id)
        has_critical = any(each.critical for each in environments.values())
        waiting, turns = await notifications_store.count_waiting(connection, project_id), Turns()
        rows: list[dict[str, object]] = []
        for each in made:
            environment = _environment_of(each, environments)
            if each.environment_id is not None and environment is None:
                continue  # deleted since: nothing is left to look at
            for member, kind in recipients.find_told(each, environment, has_critical=has_critical):
                await turns.give()
                count = waiting[member.account_id] = waiting.get(member.account_id, 0) + 1
                if count <= WAITING_MAX:
                    row: dict[str, object] = {"project_id": project_id, "account_id": member.account_id}
                    rows.append({**row, "kind": kind.value, "change": each.number, "created_at": self.now()})
        return rows

    async def _take(self, member: Recipient) -> _Taken | None:
        """Hold what a member is to be told; None if the member has got too many mails, or another process has it."""
        now = self.now()
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            if not await may_send(connection, member.account_id, now):
                return None
            waiting = await notifications_store.take(connection, member, now, now + HELD_FOR)
            if not waiting:
                return None
            return _Taken(waiting, await notifications_store.record_mail(connection, member.account_id, now))

    async def _send(self, member: Recipient, waiting: Sequence[Waiting]) -> bool:
        """Send a mail; return False if it has to be tried again."""
        async with self.database.read() as connection:
            email = await find_email(connection, member)
            environments = await _list_environments(connection, member.project_id)
            shown = waiting[:SHOWN_MAX]
            mentions = await list_mentions(connection, [each.comment_id for each in shown if each.comment_id])
            numbers = [each.change for each in shown if not each.comment_id]
            made = await made_changes_store.list_made(connection, member.project_id, numbers)
        if email is None or not (made or mentions):
            return True
        entries = [self._mention_entry(each, environments) for each in mentions]
        entries += [self._entry(member.project_id, each, _environment_of(each, environments)) for each in made]
        more = len(waiting) - len(shown)
        digest = Digest(
            subject=_subject(made, mentions, len(entries) + more, environments),
            intro=_intro(made, mentions),
            entries=entries,
            more=more,
            reason=say_reason({each.kind for each in waiting}),
            unsubscribe_token=self.tokens.make(member),
            is_urgent=any(each.kind in URGENT for each in waiting),
        )
        return await self.send_digest(email, digest)

    def _entry(self, project_id: UUID, made: Made, environment: Environment | None) -> Entry:
        scope = Scope(project_id, made.environment_id, made.flag_id)
        link = change_page(self.public_url, made.action, scope, environment)
        if made.action == "webhook.disabled":
            return Entry(say_briefly(made, None), "its receiver does not accept messages", made.at, link)
        who = say_who(made)
        is_critical = environment is not None and environment.critical
        return Entry(
            say_briefly(made, environment), f"{who}, in a critical environment" if is_critical else who, made.at, link
        )

    def _mention_entry(self, mention: Mention, environments: Environments) -> Entry:
        environment = environments.get(mention.environment_id) if mention.environment_id is not None else None
        page = project_page(self.public_url, mention.project_id)
        link = mention.page(page, has_environment=environment is not None)
        return Entry(_say_mention(mention, environments), name_author(mention.author_email), mention.at, link)


async def _list_recipients(connection: Connection, project_id: UUID, made: Sequence[Made]) -> Recipients:
    chosen = await wanted_mails_store.list_wanted(connection, project_id)
    members = await members_store.list_members(connection, project_id)
    names = {target.name for each in made if each.is_evaluated for target in targets_of(each) if target.name}
    subscribed = await list_subscribed(connection, project_id, names)
    return Recipients(((member, chosen.get(member.account_id, DEFAULTS)) for member in members), subscribed)


async def _list_environments(connection: Connection, project_id: UUID) -> Environments:
    return {each.id: each for each in await environments_store.list_environments(connection, project_id)}


def _environment_of(made: Made, environments: Environments) -> Environment | None:
    return environments.get(made.environment_id) if made.environment_id is not None else None


def _say_mention(mention: Mention, environments: Environments) -> str:
    environment = environments.get(mention.environment_id) if mention.environment_id is not None else None
    return mention.say_briefly(environment.key if environment else None)


def _intro(made: Sequence[Made], mentions: Sequence[Mention]) -> str:
    if not mentions:
        return "These changes were made in one of your projects:"
    if made:
        return "These changes and mentions were made in one of your projects:"
    return "You were mentioned in one of your projects:"


def _subject(made: Sequence[Made], mentions: Sequence[Mention], count: int, environments: Environments) -> str:
    if count == 1:
        if mentions:
            return _say_mention(mentions[0], environments)
        return say_briefly(made[0], _environment_of(made[0], environments))
    if mentions:
        return f"{count} changes and mentions" if made else f"{count} mentions in comments"
    places = {each.environment_id for each in made}
    environment = _environment_of(made[0], environments)
    return f"{count} changes in {environment.key}" if environment and len(places) == 1 else f"{count} changes"
