"""HTTP of comments on flags, releases and changes."""

from functools import partial
from typing import Annotated, Any, ClassVar, Literal

from fastapi import Depends
from pydantic import AfterValidator, Field
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.entity_tags import TaggedOut, if_match, tagged_response
from flagstaff.api.ids import ChangeId, Id
from flagstaff.api.lists import BY_AGE, Listing, ListPart
from flagstaff.api.operations import reads, writes
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Body, Moment, Update, Uuid, optional
from flagstaff.comments.comments import TEXT_MAX_LENGTH, Comment, check_comment
from flagstaff.comments.comments_service import Comments, OfChange, OfFlag
from flagstaff.database.preconditions import Precondition
from flagstaff.flags.flag_path_schemas import FlagIds
from flagstaff.http.operations import TEXT_BODY
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import no_content
from flagstaff.http.services import service
from flagstaff.permissions.permissions import Permission
from flagstaff.values.moments import format_moment

router = Router(prefix="/api/projects/{project_id}", tags=["Comments"])

_OF_FLAG = "/environments/{env_id}/flags/{flag_id}/comments"
_OF_RELEASE = "/environments/{env_id}/flags/{flag_id}/releases/{release_id}/comments"
_OF_CHANGE = "/changes/{change_id}/comments"
_COMMENT = "/comments/{comment_id}"

CommentText = Annotated[
    str,
    AfterValidator(check_comment),
    Field(
        description="The text. `@` followed by a member's address mentions the member.",
        json_schema_extra={"minLength": 1, "maxLength": TEXT_MAX_LENGTH, "pattern": r"\S"},
    ),
]


class SubjectOut(ResponseModel):
    """The subject of a comment. The ids of all else are null."""

    kind: Literal["flag", "release", "change"]
    environment_id: Uuid | None
    flag_id: Uuid | None
    release_id: Uuid | None
    change_id: str | None


class AuthorOut(ResponseModel):
    """The account that has written a comment."""

    id: Uuid | None
    email: str


class CommentOut(TaggedOut):
    """A comment. Its text is plain text: show it as such."""

    id: Uuid
    project_id: Uuid
    subject: SubjectOut
    author: AuthorOut
    text: str
    created_at: Moment
    updated_at: Moment = Field(description="The time of its last edit, or of its creation.")


class NewComment(Body):
    """A comment to write."""

    text: CommentText


class CommentUpdate(Update):
    """The new text of a comment."""

    read_only: ClassVar[frozenset[str]] = frozenset(
        {"id", "project_id", "subject", "author", "created_at", "updated_at"}
    )

    text: CommentText = optional()


def _view(comment: Comment) -> dict[str, Any]:
    kind = "change" if comment.change is not None else "release" if comment.release_id is not None else "flag"
    return {
        "id": comment.id,
        "project_id": comment.project_id,
        "subject": {
            "kind": kind,
            "environment_id": comment.environment_id,
            "flag_id": comment.flag_id,
            "release_id": comment.release_id,
            "change_id": str(comment.change) if comment.change is not None else None,
        },
        "author": {"id": comment.author_id, "email": comment.author_email},
        "text": comment.text,
        "created_at": format_moment(comment.created_at),
        "updated_at": format_moment(comment.updated_at),
    }


_listing = Listing(_view, lambda comment: (comment.created_at, comment.id), BY_AGE)
_LISTED = problems(400, 401, 404, 503)
_CREATED = problems(400, 401, 404, 409, 413, 429, 503)
Service = Annotated[Comments, Depends(service(Comments))]
IfMatch = Annotated[Precondition[Comment], Depends(if_match("comment", _view))]
_comments_on_flags = writes(
    Permission.COMMENTS_WRITE,
    Permission.FLAGS_READ,
    body_max_bytes=TEXT_BODY,
    reports_revision=False,
    repeatable=True,
)


@router.get(_OF_FLAG, response_model=list[CommentOut], responses=_LISTED)
@reads(Permission.FLAGS_READ)
async def list_flag_comments(path: FlagIds, part: ListPart, actor: CurrentActor, comments: Service) -> Response:
    """The comments on a flag, newest first."""
    return await _listing.respond(part, partial(comments.list_comments, actor, OfFlag(path)))


@router.post(_OF_FLAG, status_code=201, response_model=CommentOut, responses=_CREATED)
@_comments_on_flags
async def create_flag_comment(path: FlagIds, body: NewComment, actor: CurrentActor, comments: Service) -> Response:
    """Comment on a flag, also on an archived one. It moves nothing that is evaluated."""
    return tagged_response(_view(await comments.create_comment(actor, OfFlag(path), body.text)), 201)


@router.get(_OF_RELEASE, response_model=list[CommentOut], responses=_LISTED)
@reads(Permission.FLAGS_READ)
async def list_release_comments(
    path: FlagIds, release_id: Id, part: ListPart, actor: CurrentActor, comments: Service
) -> Response:
    """The comments on a release, newest first."""
    return await _listing.respond(part, partial(comments.list_comments, actor, OfFlag(path, release_id)))


@router.post(_OF_RELEASE, status_code=201, response_model=CommentOut, responses=_CREATED)
@_comments_on_flags
async def create_release_comment(
    path: FlagIds, release_id: Id, body: NewComment, actor: CurrentActor, comments: Service
) -> Response:
    """Comment on a release, also on one that has ended."""
    return tagged_response(_view(await comments.create_comment(actor, OfFlag(path, release_id), body.text)), 201)


@router.get(_OF_CHANGE, response_model=list[CommentOut], responses=_LISTED)
@reads(Permission.AUDIT_READ, place="environment")
async def list_change_comments(
    project_id: Id, change_id: ChangeId, part: ListPart, actor: CurrentActor, comments: Service
) -> Response:
    """The comments on a change in the audit trail, newest first.

    A change in no environment, or in a deleted one, needs the permission in the whole project.
    """
    return await _listing.respond(part, partial(comments.list_comments, actor, OfChange(project_id, change_id)))


@router.post(_OF_CHANGE, status_code=201, response_model=CommentOut, responses=_CREATED)
@writes(
    Permission.COMMENTS_WRITE,
    Permission.AUDIT_READ,
    place="environment",
    body_max_bytes=TEXT_BODY,
    reports_revision=False,
    repeatable=True,
    shown_with=(Permission.AUDIT_READ,),
)
async def create_change_comment(
    project_id: Id, change_id: ChangeId, body: NewComment, actor: CurrentActor, comments: Service
) -> Response:
    """Comment on a change in the audit trail.

    A change in no environment, or in a deleted one, needs the permissions in the whole project.
    """
    place = OfChange(project_id, change_id)
    return tagged_response(_view(await comments.create_comment(actor, place, body.text)), 201)


@router.put(_COMMENT, response_model=CommentOut, responses=problems(400, 401, 404, 413, 503))
@writes(
    Permission.COMMENTS_WRITE,
    place="environment",
    body_max_bytes=TEXT_BODY,
    reports_revision=False,
    shown_with=(Permission.FLAGS_READ, Permission.AUDIT_READ),
)
async def update_comment(
    project_id: Id, comment_id: Id, body: CommentUpdate, actor: CurrentActor, comments: Service, precondition: IfMatch
) -> Response:
    """Edit a comment that you have written. Members whom the new text mentions and the old one did not are mailed."""
    text = body.given().get("text")
    return tagged_response(_view(await comments.update_comment(actor, project_id, comment_id, text, precondition)))


@router.delete(_COMMENT, status_code=204, responses=problems(401, 404, 503))
@writes(
    Permission.COMMENTS_WRITE,
    place="environment",
    reports_revision=False,
    shown_with=(Permission.FLAGS_READ, Permission.AUDIT_READ),
)
async def delete_comment(
    project_id: Id, comment_id: Id, actor: CurrentActor, comments: Service, precondition: IfMatch
) -> Response:
    """Delete a comment that you have written.

    Deleting another person's comment needs the permission `comments:moderate`, and the audit trail records it.
    """
    await comments.delete_comment(actor, project_id, comment_id, precondition)
    return no_content()
