"""Comments: who may see what they are on may read them, and every member may write them.

They change nothing that is evaluated and are the words of their authors, so the audit trail does not have them. It
records who has deleted a comment of somebody else, without its text.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from uuid_utils.compat import uuid7

from flagstaff.changes.changes import Actor, Scope, change_of
from flagstaff.comments import comments_store
from flagstaff.comments.comments import (
    COMMENTS_PER_HOUR,
    COMMENTS_PER_SUBJECT,
    COUNTED_FOR,
    Comment,
    Subject,
    find_mentions,
)
from flagstaff.database.changes_store import record
from flagstaff.database.database import Connection, Database
from flagstaff.database.preconditions import ANY_STATE, Precondition
from flagstaff.flags import flags_store
from flagstaff.flags.access import FlagPath
from flagstaff.identity.accounts import accounts_store
from flagstaff.notifications.mentions_store import add_mentions, delete_mentions
from flagstaff.permissions.members import Member
from flagstaff.permissions.permissions import Permission, may, require
from flagstaff.projects import environments_store
from flagstaff.projects.access import open_member
from flagstaff.projects.members import members_store
from flagstaff.releases import releases_store
from flagstaff.values.emails import email_identity
from flagstaff.values.errors import Code, Error
from flagstaff.values.lists import WHOLE, Window
from flagstaff.values.moments import later_than
from flagstaff.values.quotas import require_fewer


class OfFlag(NamedTuple):
    """The place of comments on a flag, or on a release of it."""

    path: FlagPath
    release_id: UUID | None = None


class OfChange(NamedTuple):
    """The place of comments on a change in a project, by its number."""

    project_id: UUID
    number: int


Place = OfFlag | OfChange


class _Opened(NamedTuple):
    """The subject of comments, its environment, and the actor as a member."""

    member: Member
    environment_id: UUID | None
    environment: str | None
    subject: Subject


@dataclass(frozen=True, slots=True)
class Comments:
    """The use cases of comments. All raise Error NOT_FOUND for resources that are not the actor's."""

    database: Database
    now: Callable[[], datetime]

    async def list_comments(self, actor: Actor, place: Place, window: Window = WHOLE) -> list[Comment]:
        """The comments on something, newest first."""
        async with self.database.read() as connection:
            opened = await _open(connection, actor, place)
            found = await comments_store.list_comments(connection, opened.member.project_id, opened.subject, window)
        return list(found)

    async def create_comment(self, actor: Actor, place: Place, text: str) -> Comment:
        """Write a comment, and have the members mailed whom it mentions.

        Raises:
            Error: CONFLICT if there are too many comments already; LIMITED if the actor has written too many.
        """
        assert actor.account_id is not None
        now = self.now()
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            opened = await _open(connection, actor, place, to_write=True)
            member, subject = opened.member, opened.subject
            present = await comments_store.count_comments(connection, member.project_id, subject)
            require_fewer(present, COMMENTS_PER_SUBJECT, "comments")
            await self._require_pace(connection, actor.account_id, now)
            comment = Comment(
                id=uuid7(),
                project_id=member.project_id,
                environment_id=opened.environment_id,
                flag_id=subject.flag_id,
                release_id=subject.release_id,
                change=subject.change,
                author_id=actor.account_id,
                author_email=member.email,
                text=text,
                created_at=now,
                updated_at=now,
            )
            await comments_store.create_comment(connection, comment)
            transaction.has_unrecorded = True
            await _tell_mentioned(connection, comment, find_mentions(text), opened.environment, now)
        return comment

    async def update_comment(
        self,
        actor: Actor,
        project_id: UUID,
        comment_id: UUID,
        text: str | None,
        precondition: Precondition[Comment] = ANY_STATE,
    ) -> Comment:
        """Replace the text of a comment of one's own, if one is given; those who are newly mentioned are mailed.

        Raises:
            Error: FORBIDDEN for the comment of somebody else; the precondition's error.
        """
        now = self.now()
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            comment, _, key = await self._open_comment(connection, actor, project_id, comment_id)
            if comment.author_id != actor.account_id:
                raise Error(Code.FORBIDDEN, "Only its author can edit a comment.")
            await precondition.require(connection, comment, None, project_id)
            if text is None or text == comment.text:
                return comment
            updated = replace(comment, text=text, updated_at=later_than(comment.updated_at, now))
            await comments_store.update_comment(connection, updated)
            if gone := find_mentions(comment.text) - find_mentions(text):
                members = await members_store.list_members(connection, project_id)
                withdrawn = [each.account_id for each in members if email_identity(each.email) in gone]
                await delete_mentions(connection, project_id, comment_id, withdrawn)
            await _tell_mentioned(connection, updated, find_mentions(text) - find_mentions(comment.text), key, now)
            return updated

    async def delete_comment(
        self, actor: Actor, project_id: UUID, comment_id: UUID, precondition: Precondition[Comment] = ANY_STATE
    ) -> None:
        """Delete one's own comment, or with the permission somebody else's, which is recorded.

        Raises:
            Error: FORBIDDEN without the permission; the precondition's error.
        """
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            comment, member, key = await self._open_comment(connection, actor, project_id, comment_id)
            is_own = comment.author_id == actor.account_id
            if not is_own:
                require(member, Permission.COMMENTS_MODERATE, key)
            await precondition.require(connection, comment, None, project_id)
            if not is_own:
                scope = await _scope_of(connection, comment)
                await record(transaction, change_of(actor, "comment.deleted", self.now(), scope, before=comment))
            await comments_store.delete_comment(connection, comment_id)
            await delete_mentions(connection, project_id, comment_id)

    async def _open_comment(
        self, connection: Connection, actor: Actor, project_id: UUID, comment_id: UUID
    ) -> tuple[Comment, Member, str | None]:
        _, member = await open_member(connection, actor, project_id, for_update=True)
        comment = await comments_store.get_comment(connection, project_id, comment_id)
        key = await _find_key(connection, project_id, comment.environment_id)
        require(member, Permission.COMMENTS_WRITE, key)
        return comment, member, key

    async def _require_pace(self, connection: Connection, account_id: UUID, now: datetime) -> None:
        await accounts_store.lock_account(connection, account_id)  # so that two requests do not count at once
        count, first = await comments_store.count_written(connection, account_id, now - COUNTED_FOR)
        if first is not None and count >= COMMENTS_PER_HOUR:
            wait = int((first + COUNTED_FOR - now).total_seconds()) + 1
            message = f"You have written {COMMENTS_PER_HOUR} comments within an hour. Try again later."
            raise Error(Code.LIMITED, message, retry_after_seconds=wait)


async def _open(connection: Connection, actor: Actor, place: Place, *, to_write: bool = False) -> _Opened:
    writing = [Permission.COMMENTS_WRITE] if to_write else []
    if isinstance(place, OfChange):
        _, member = await open_member(connection, actor, place.project_id, for_update=to_write)
        made = await comments_store.find_change_place(connection, *place)
        key = await _find_key(connection, place.project_id, made.environment_id)
        for each in (*writing, Permission.AUDIT_READ):
            require(member, each, key)
        return _Opened(member, made.environment_id, key, Subject(change=place.number))
    project_id, environment_id, flag_id = place.path.project_id, place.path.environment_id, place.path.flag_id
    _, member = await open_member(connection, actor, project_id, for_update=to_write)
    environment = await environments_store.get_environment(connection, project_id, environment_id)
    for each in (*writing, Permission.FLAGS_READ):
        require(member, each, environment.key)
    await flags_store.get_flag(connection, project_id, environment_id, flag_id)
    subject = Subject(flag_id=flag_id)
    if place.release_id is not None:
        await releases_store.get_release(connection, flag_id, place.release_id)
        subject = Subject(release_id=place.release_id)
    return _Opened(member, environment_id, environment.key, subject)


async def _find_key(connection: Connection, project_id: UUID, environment_id: UUID | None) -> str | None:
    """The key of an environment, unless it was deleted: then the permissions in the whole project count."""
    if environment_id is None:
        return None
    environment = await environments_store.find_environment(connection, project_id, environment_id)
    return environment.key if environment else None


async def _tell_mentioned(
    connection: Connection, comment: Comment, addresses: set[str], environment: str | None, now: datetime
) -> None:
    """Have the members mailed that are mentioned and may see what the comment is on, but for its author."""
    if not addresses:
        return
    needed = Permission.FLAGS_READ if comment.change is None else Permission.AUDIT_READ
    members = await members_store.list_members(connection, comment.project_id)
    told = [
        each.account_id
        for each in members
        if email_identity(each.email) in addresses
        and each.account_id != comment.author_id
        and may(each, needed, environment)
    ]
    await add_mentions(connection, comment.project_id, comment.id, told, now)


async def _scope_of(connection: Connection, comment: Comment) -> Scope:
    flag_id, key = comment.flag_id, None
    if comment.release_id is not None and (
        release := await releases_store.find_release(connection, comment.release_id)
    ):
        flag_id = release.flag_id
    if comment.change is not None:
        made = await comments_store.find_change_place(connection, comment.project_id, comment.change)
        flag_id, key = made.flag_id, made.flag_key
    elif flag_id is not None and comment.environment_id is not None:
        flag = await flags_store.get_flag(connection, comment.project_id, comment.environment_id, flag_id)
        key = flag.key
    return Scope(comment.project_id, comment.environment_id, flag_id, key)
