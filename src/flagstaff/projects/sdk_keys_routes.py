"""HTTP of SDK keys of environments. A response is sent once all instances accept a new key, or none a revoked one."""

from typing import Annotated, Any, ClassVar, Literal

from fastapi import Depends
from pydantic import AfterValidator, Field
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.entity_tags import TaggedOut, if_match, tagged_response
from flagstaff.api.ids import GivenId, Id
from flagstaff.api.operations import reads, writes
from flagstaff.api.routers import Router
from flagstaff.api.schemas import (
    Body,
    EnvironmentKey,
    GivenMoment,
    Moment,
    Name,
    Update,
    Uuid,
    at_most,
    converted,
    distinct,
    optional,
)
from flagstaff.concurrency.claims import Priority
from flagstaff.database.preconditions import Precondition
from flagstaff.http.operations import SMALL_BODY
from flagstaff.http.problems import problems
from flagstaff.http.responses import json_array_response, no_content
from flagstaff.http.services import service
from flagstaff.permissions.permissions import Permission
from flagstaff.projects.key_origins import ORIGIN_MAX_LENGTH, ORIGIN_PATTERN, ORIGINS_MAX, check_origin
from flagstaff.projects.sdk_keys import PATTERN, KeyKind, SdkKey
from flagstaff.projects.sdk_keys_service import SdkKeys, WantedKey
from flagstaff.values.moments import format_moment

router = Router(prefix="/api/projects/{project_id}/sdk-keys", tags=["SDK keys"])

Kind = Annotated[
    Literal["server", "browser"],
    converted(KeyKind),
    Field(
        description="`browser` for keys that end users can read: it only returns the results of flags for one "
        "user. `server` for all other keys."
    ),
]
AllowedOrigins = Annotated[
    list[
        Annotated[
            str,
            AfterValidator(check_origin),
            Field(json_schema_extra={"minLength": 1, "maxLength": ORIGIN_MAX_LENGTH, "pattern": ORIGIN_PATTERN}),
        ]
    ],
    at_most(ORIGINS_MAX),
    distinct("an origin", may_be_empty=True),
    Field(
        json_schema_extra={"maxItems": ORIGINS_MAX, "uniqueItems": True},
        description="Only for keys of the kind `browser`: the origins of the pages that may use the key, as browsers "
        "send them, such as `https://shop.example.com` or `http://localhost:5173`. `https://*.example.com` stands for "
        "all names with one label more. Requests of other pages get a 403. If the list is empty, every page may use "
        "the key. Requests without an `Origin` header are always accepted.",
    ),
]


class NewSdkKey(Body):
    """A key to create."""

    name: Name
    environment: EnvironmentKey
    kind: Kind
    expires_at: GivenMoment | None = Field(default=None, description="When the key expires; by default never.")

    replaces: GivenId | None = Field(
        default=None,
        description="The id of the key of the same environment that this one replaces. Revoke that key when "
        "applications no longer use it.",
    )
    allowed_origins: AllowedOrigins | None = Field(
        default=None, description="By default, those of the key that it replaces, if it does, and otherwise none."
    )

    def wanted(self) -> WantedKey:
        """The key for the service."""
        origins = None if self.allowed_origins is None else tuple(self.allowed_origins)
        return WantedKey(self.name, self.environment, KeyKind(self.kind), self.expires_at, self.replaces, origins)


class SdkKeyUpdate(Update):
    """The fields to change."""

    read_only: ClassVar[frozenset[str]] = frozenset(
        {
            *("id", "environment", "kind", "hint", "created_by", "created_at"),
            *("expires_at", "last_used_at", "replaces"),
        }
    )

    name: Name = optional()
    allowed_origins: AllowedOrigins = optional()

    def wanted(self) -> dict[str, Any]:
        """The given fields for the service."""
        given = self.given()
        return given | ({"allowed_origins": tuple(given["allowed_origins"])} if "allowed_origins" in given else {})


class SdkKeyOut(TaggedOut):
    """An SDK key without its secret. It is for the environment with the key `environment` only."""

    id: Uuid
    environment: str
    name: str
    kind: Kind
    hint: str = Field(description="The last characters of the key.")
    created_by: str | None = Field(description="The email of the account that created the key, if it still exists.")
    created_at: Moment
    expires_at: Moment | None
    last_used_at: Moment | None = Field(description="When the key was last used, accurate to a few minutes.")
    replaces: Uuid | None = Field(description="The id of the key that it replaces, which may have been revoked since.")
    allowed_origins: AllowedOrigins


class CreatedSdkKeyOut(SdkKeyOut):
    """A new key, with its text, which is shown only here."""

    key: str = Field(json_schema_extra={"pattern": f"^{PATTERN}$"})


def _view(key: SdkKey) -> dict[str, Any]:
    return {
        "id": key.id,
        "environment": key.environment,
        "name": key.name,
        "kind": key.kind,
        "hint": key.hint,
        "created_by": key.creator_email,
        "created_at": format_moment(key.created_at),
        "expires_at": format_moment(key.expires_at) if key.expires_at else None,
        "last_used_at": format_moment(key.last_used_at) if key.last_used_at else None,
        "replaces": key.replaces_id,
        "allowed_origins": key.allowed_origins,
    }


Service = Annotated[SdkKeys, Depends(service(SdkKeys))]
IfMatch = Annotated[Precondition[SdkKey], Depends(if_match("SDK key", _view))]


@router.get(
    "",
    response_model=list[SdkKeyOut],
    responses=problems(401, 404, 503),
)
@reads(Permission.KEYS_READ, place="any environment")
async def list_sdk_keys(project_id: Id, actor: CurrentActor, sdk_keys: Service) -> Response:
    """The SDK keys of the environments in which you may see keys, newest first, including those that have expired."""
    return await json_array_response(map(_view, await sdk_keys.list_keys(actor, project_id)))


@router.post(
    "",
    status_code=201,
    response_model=CreatedSdkKeyOut,
    responses=problems(400, 401, 404, 409, 413, 503),
)
@writes(Permission.KEYS_ROTATE, place="environment", body_max_bytes=SMALL_BODY, reports_revision=True, repeatable=False)
async def create_sdk_key(project_id: Id, body: NewSdkKey, actor: CurrentActor, sdk_keys: Service) -> Response:
    """Create an SDK key of an environment, in which you need the permission.

    Every instance accepts it immediately. An environment can have several keys, so that applications can change to a
    new one before the old one is revoked. The key does not end when you leave the project. An `Idempotency-Key` is
    ignored, because the response is not stored.
    """
    key, text = await sdk_keys.create_key(actor, project_id, body.wanted())
    return tagged_response(_view(key), 201, {"key": text})


@router.get(
    "/{key_id}",
    response_model=SdkKeyOut,
    responses=problems(401, 404, 503),
)
@reads(Permission.KEYS_READ, place="environment")
async def get_sdk_key(project_id: Id, key_id: Id, actor: CurrentActor, sdk_keys: Service) -> Response:
    """One SDK key without its secret. You need the permission in the key's environment."""
    return tagged_response(_view(await sdk_keys.get_key(actor, project_id, key_id)))


@router.put(
    "/{key_id}",
    response_model=SdkKeyOut,
    responses=problems(400, 401, 404, 413, 503),
)
@writes(Permission.KEYS_ROTATE, place="environment", body_max_bytes=SMALL_BODY, reports_revision=True)
async def update_sdk_key(
    project_id: Id, key_id: Id, body: SdkKeyUpdate, actor: CurrentActor, sdk_keys: Service, precondition: IfMatch
) -> Response:
    """Rename an SDK key, or change its allowed origins. You need the permission in the key's environment.

    Every instance refuses and accepts pages by the new list immediately. Streams of pages that are no longer allowed
    are closed.
    """
    return tagged_response(_view(await sdk_keys.update_key(actor, project_id, key_id, precondition, **body.wanted())))


@router.delete(
    "/{key_id}",
    status_code=204,
    responses=problems(401, 404, 503),
)
@writes(Permission.KEYS_ROTATE, place="environment", reports_revision=True, priority=Priority.KILL)
async def revoke_sdk_key(
    project_id: Id, key_id: Id, actor: CurrentActor, sdk_keys: Service, precondition: IfMatch
) -> Response:
    """Revoke an SDK key immediately on every instance. You need the permission in the key's environment."""
    await sdk_keys.revoke_key(actor, project_id, key_id, precondition)
    return no_content()
