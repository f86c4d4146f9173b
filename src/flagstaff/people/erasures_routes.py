"""HTTP of erasures of users."""

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import Depends
from pydantic import Field
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.ids import Id
from flagstaff.api.operations import asks, reads, writes
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Body, Moment, Text, Uuid
from flagstaff.concurrency.claims import Priority
from flagstaff.history.erased_users import Subject
from flagstaff.http.operations import SMALL_BODY
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import json_array_response, json_response
from flagstaff.http.services import service
from flagstaff.people.erasures import REMAINS, Erasure, Stage
from flagstaff.people.erasures_service import Erasures
from flagstaff.permissions.permissions import Permission
from flagstaff.values.errors import invalid_field
from flagstaff.values.moments import format_moment

router = Router(prefix="/api/projects/{project_id}/erasures", tags=["Users' data"])

ATTRIBUTES_MAX = 50


class UserOfApplication(Body):
    """A user of the project's applications: an id, an email or both. Records that have one of them are the user's."""

    user_id: Annotated[Text | None, Field(description="The id, exactly as in contexts.")] = None
    user_email: Annotated[Text | None, Field(description="The email, ignoring case.")] = None

    def subject(self) -> Subject:
        """The user; raises Error INVALID without an id and an email."""
        if not self.user_id and not self.user_email:
            raise invalid_field("user_id", "is required, unless user_email is given")
        return Subject(self.user_id or None, self.user_email or None)


class NewErasure(UserOfApplication):
    """A user to erase, and the confirmation that the preview has given."""

    confirmation: Text


class KeptAttributeOut(ResponseModel):
    """An attribute that was kept with evaluations of the user."""

    name: str
    evaluations: int


class FoundRecordsOut(ResponseModel):
    """The records of a user in an environment."""

    environment_id: Uuid
    evaluations: int
    events: int
    release_users: int = Field(description="The releases for which the user was counted.")
    attributes: list[KeptAttributeOut] = Field(
        description=f"The attributes that were kept with these evaluations, and are deleted, the most frequent first; "
        f"{ATTRIBUTES_MAX} at most."
    )
    more: bool = Field(description="True if the preview has ended early: there are at least so many.")


class NamedByOut(ResponseModel):
    """A rule or a segment that names the user now, and stays as it is until you change it."""

    kind: Literal["rule", "segment"]
    id: Uuid
    key: str = Field(description="The key of the rule's flag, or of the segment.")
    environment_id: Uuid | None = Field(description="Null for a segment, as `flag_id`.")
    flag_id: Uuid | None
    attributes: list[str] = Field(description="The attributes with which it compares the user's id or email.")


class RemainsOut(ResponseModel):
    """Something that an erasure does not reach."""

    what: str
    until: str


class ErasurePreviewOut(ResponseModel):
    """The records from which an erasure would remove the user, and the confirmation for it."""

    found: list[FoundRecordsOut]
    changes: int = Field(description="Changes of rules and segments in the audit trail in whose states the user is.")
    more_changes: bool = Field(description="True if the preview has ended early: there are at least so many.")
    named_by: list[NamedByOut] = Field(
        description="Rules and segments that name the user now. Empty for an access token without `flags:read` and "
        "`project:read`."
    )
    more_named_by: bool = Field(description="True if there may be more.")
    remains: list[RemainsOut]
    confirmation: str
    expires_at: Moment


class ErasureOut(ResponseModel):
    """An erasure. The user is known by keyed digests only."""

    id: Uuid
    project_id: Uuid
    digests: dict[str, str] = Field(description="By `user_id` and `user_email`, as far as they were given.")
    requested_at: Moment
    finished_at: Moment | None
    stage: Stage = Field(
        description="`history`: evaluations, events and releases. `clickhouse`: the copy. `freed_space`: what was "
        "deleted and still stands in SQLite's files. `done`: all of these."
    )
    problem: str | None = Field(description="Why it does not go on; it is tried again every minute.")
    evaluations: int = Field(description="Evaluations that are now those of nobody.")
    events: int = Field(description="Events that are now those of nobody.")
    release_users: int = Field(description="Releases from whose users this one was deleted.")
    changes: int = Field(description="Changes of rules and segments in whose states the user was replaced by a marker.")
    remains: list[RemainsOut]


_REMAINS = [{"what": each.what, "until": each.until} for each in REMAINS]


def view_erasure(erasure: Erasure) -> dict[str, Any]:
    """Return an erasure as the API shows it."""
    return {
        "id": erasure.id,
        "project_id": erasure.project_id,
        "digests": erasure.digests,
        "requested_at": format_moment(erasure.requested_at),
        "finished_at": erasure.finished_at and format_moment(erasure.finished_at),
        "stage": erasure.stage,
        "problem": erasure.problem,
        "evaluations": erasure.evaluations,
        "events": erasure.events,
        "release_users": erasure.release_users,
        "changes": erasure.changes,
        "remains": _REMAINS,
    }


Service = Annotated[Erasures, Depends(service(Erasures))]


@router.post("/preview", response_model=ErasurePreviewOut, responses=problems(400, 401, 404, 413, 503))
@asks(Permission.USERS_ERASE, body_max_bytes=SMALL_BODY)
async def preview_erasure(project_id: Id, body: UserOfApplication, actor: CurrentActor, erasures: Service) -> Response:
    """Count what is stored about a user of the project's applications, and get a confirmation to erase it.

    The confirmation is for this user, for ten minutes, and for one erasure. Nothing is changed.
    """
    preview = await erasures.preview(actor, project_id, body.subject())
    found = [
        {
            "environment_id": each.environment_id,
            "evaluations": each.evaluations,
            "events": each.events,
            "release_users": each.release_users,
            "attributes": [
                {"name": name, "evaluations": count} for name, count in each.attributes.most_common(ATTRIBUTES_MAX)
            ],
            "more": each.more,
        }
        for each in preview.found
    ]
    expires_at = format_moment(preview.expires_at)
    return json_response(
        {
            "found": found,
            "changes": preview.changes,
            "more_changes": preview.more_changes,
            "named_by": [asdict(each) for each in preview.named_by],
            "more_named_by": preview.more_named_by,
            "remains": _REMAINS,
            "confirmation": preview.confirmation,
            "expires_at": expires_at,
        }
    )


@router.post("", status_code=202, response_model=ErasureOut, responses=problems(400, 401, 404, 409, 413, 503))
@writes(
    Permission.USERS_ERASE, body_max_bytes=SMALL_BODY, reports_revision=False, repeatable=True, priority=Priority.LONG
)
async def erase_user(project_id: Id, body: NewErasure, actor: CurrentActor, erasures: Service) -> Response:
    """Erase a user of the project's applications, in all environments, in the background.

    Evaluations and events lose their user and are kept, so that counts stay true. The user is deleted from releases,
    and records that are still on their way are stored without the user. Later evaluations are recorded again. In the
    audit trail, `[erased]` stands for the user in rules and segments as they were before and after changes, which can
    then not be restored to these values. Rules and segments themselves stay as they are.
    """
    erasure = await erasures.request(actor, project_id, body.subject(), body.confirmation)
    return json_response(view_erasure(erasure), 202)


@router.get("", response_model=list[ErasureOut], responses=problems(401, 404, 503))
@reads(Permission.USERS_ERASE)
async def list_erasures(project_id: Id, actor: CurrentActor, erasures: Service) -> Response:
    """The erasures of a project, newest first; a thousand at most."""
    return await json_array_response(map(view_erasure, await erasures.list_erasures(actor, project_id)))


@router.get("/{erasure_id}", response_model=ErasureOut, responses=problems(401, 404, 503))
@reads(Permission.USERS_ERASE)
async def get_erasure(project_id: Id, erasure_id: Id, actor: CurrentActor, erasures: Service) -> Response:
    """One erasure, and how far it has come."""
    return json_response(view_erasure(await erasures.get_erasure(actor, project_id, erasure_id)))
