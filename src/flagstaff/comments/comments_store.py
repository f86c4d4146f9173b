"""Comments in the database. Those on a flag or a release end with it; those on a change stay as long as the trail."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.comments.comments import Comment, Subject
from flagstaff.database import tables
from flagstaff.database.resources import Resource
from flagstaff.database.windows import Listing
from flagstaff.values.errors import not_found
from flagstaff.values.lists import WHOLE, Window

_columns, _changes = tables.comments.c, tables.changes.c
_COMMENTS = Resource(Comment, tables.comments)
_comment = _COMMENTS.select()
_by_id = _comment.where(_columns.id == sa.bindparam("comment"), _columns.project_id == sa.bindparam("project"))
_is_of = {name: _columns[name] == sa.bindparam(name) for name in Subject._fields}
_project = _columns.project_id == sa.bindparam("project")
_listings = {
    name: Listing(_comment.where(_project, is_of), (_columns.created_at, _columns.id), descending=True)
    for name, is_of in _is_of.items()
}
_counts = {name: sa.select(sa.func.count()).where(_project, is_of) for name, is_of in _is_of.items()}
_of_author = sa.select(sa.func.count(), sa.func.min(_columns.created_at)).where(
    _columns.author_id == sa.bindparam("author"), _columns.created_at > sa.bindparam("since", type_=tables.Moment)
)
_change = sa.select(_changes.environment_id, _changes.flag_id, _changes.flag_key).where(
    _changes.id == sa.bindparam("number"), _changes.project_id == sa.bindparam("project")
)
_update = tables.comments.update().where(_columns.id == sa.bindparam("comment"))
_delete = tables.comments.delete().where(_columns.id == sa.bindparam("comment"))


class ChangePlace(NamedTuple):
    """The environment and the flag of a change, as far as it has them."""

    environment_id: UUID | None
    flag_id: UUID | None
    flag_key: str | None


async def create_comment(connection: AsyncConnection, comment: Comment) -> None:
    """Insert a comment."""
    await connection.execute(tables.comments.insert(), _COMMENTS.row(comment))


async def get_comment(connection: AsyncConnection, project_id: UUID, comment_id: UUID) -> Comment:
    """The comment with this id in a project; raises Error NOT_FOUND."""
    row = (await connection.execute(_by_id, {"project": project_id, "comment": comment_id})).one_or_none()
    if row is None:
        raise not_found("comment")
    return _COMMENTS.read(row)


async def list_comments(
    connection: AsyncConnection, project_id: UUID, subject: Subject, window: Window = WHOLE
) -> Iterator[Comment]:
    """The comments on something, newest first, by the time of their creation and their id; converted when read."""
    name, value = _given(subject)
    rows = await _listings[name].rows(connection, window, {"project": project_id, name: value})
    return map(_COMMENTS.read, rows)


async def count_comments(connection: AsyncConnection, project_id: UUID, subject: Subject) -> int:
    """Count the comments on something."""
    name, value = _given(subject)
    return int((await connection.execute(_counts[name], {"project": project_id, name: value})).scalar_one())


async def count_written(connection: AsyncConnection, author_id: UUID, since: datetime) -> tuple[int, datetime | None]:
    """Count the comments that an account has written since a time; also the time of the first of them."""
    count, first = (await connection.execute(_of_author, {"author": author_id, "since": since})).one()
    return count, first


async def find_change_place(connection: AsyncConnection, project_id: UUID, number: int) -> ChangePlace:
    """Return the place of a change, by its number in a project, without its states; raises Error NOT_FOUND."""
    row = (await connection.execute(_change, {"project": project_id, "number": number})).one_or_none()
    if row is None:
        raise not_found("change")
    return ChangePlace(*row)


async def update_comment(connection: AsyncConnection, comment: Comment) -> None:
    """Write the text of a comment, and when it was edited."""
    values = {"comment": comment.id, "text": comment.text, "updated_at": comment.updated_at}
    await connection.execute(_update, values)


async def delete_comment(connection: AsyncConnection, comment_id: UUID) -> None:
    """Delete a comment."""
    await connection.execute(_delete, {"comment": comment_id})


def _given(subject: Subject) -> tuple[str, UUID | int]:
    """The column that refers to a subject, and its id or number."""
    return next((name, value) for name, value in subject._asdict().items() if value is not None)
