"""HTTP of copies. Once the response is sent, no evaluation sees the state before it."""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Annotated, Any

from fastapi import Depends
from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.ids import GivenId, Id
from flagstaff.api.operations import writes
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Body, FlagKey, Text, Uuid, at_most, distinct
from flagstaff.concurrency.claims import Priority
from flagstaff.concurrency.pacing import collect
from flagstaff.copying.copies import FLAGS_MAX, Part
from flagstaff.copying.copies_service import Copied, Copies
from flagstaff.copying.copy_plans import Wanted
from flagstaff.http.operations import SMALL_BODY
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import encoded, json_response
from flagstaff.http.services import service
from flagstaff.permissions.permissions import Permission

router = Router(prefix="/api/projects/{project_id}", tags=["Comparisons"])


def _read_part(given: object) -> Part:
    try:
        return Part(given)  # type: ignore[arg-type]
    except ValueError:
        raise ValueError(f"is not a part; the parts are {', '.join(Part)}") from None


def _check_parts(given: list[Part]) -> list[Part]:
    if not given:
        raise ValueError("must have at least one part; leave it out for all")
    return given


FlagKeys = Annotated[
    list[FlagKey],
    at_most(FLAGS_MAX),
    distinct("a key"),
    Field(json_schema_extra={"minItems": 1, "maxItems": FLAGS_MAX, "uniqueItems": True}),
]
Subset = Annotated[
    list[Annotated[Part, BeforeValidator(_read_part), WithJsonSchema({"type": "string", "enum": [*Part]})],],
    at_most(len(Part)),
    AfterValidator(_check_parts),
    Field(json_schema_extra={"minItems": 1, "maxItems": len(Part)}),
]


class CopyBody(Body):
    """The flags to copy, and the parts of them."""

    from_id: GivenId = Field(alias="from", description="The id of the environment to copy from.")
    to_id: GivenId = Field(alias="to", description="The id of the environment to copy to.")
    flag_keys: FlagKeys
    parts: Subset = Field(
        default=[*Part],
        description="The parts to copy, by default all: `details` are name, description and tags; `rollout` "
        "is `rollout_percentage`, of which 0 means everyone, and `fallthrough`.",
    )
    dry_run: bool = Field(default=False, description="Only return the changes that it would make.")
    if_unchanged: Text | None = Field(
        default=None,
        description="The `fingerprint` of a dry run: the copy is refused (409) if it would now change anything else.",
    )


class CopiedFieldOut(ResponseModel):
    """A field that is altered in the environment that is copied to. `rules` are altered one by one."""

    field: str = Field(examples=["rollout_percentage"])
    before: Any
    after: Any


class CopyAlterationOut(ResponseModel):
    """A change that a copy makes to a flag or to one of its rules."""

    change_id: str | None = Field(description="The change that this made; null for a dry run.")
    action: str = Field(examples=["flag.updated"])
    resource_id: Uuid
    flag_id: Uuid
    flag_key: str
    fields: list[CopiedFieldOut]


class CopyOut(ResponseModel):
    """The flags that were copied, or with `dry_run` would be. Flags that are already the same are left out."""

    fingerprint: str = Field(description="Identifies the changes, for `if_unchanged`.")
    alterations: list[CopyAlterationOut]


def _views(copied: Copied) -> Iterator[dict[str, Any]]:
    for alteration, number in zip_longest(copied.alterations, copied.numbers):
        yield {
            "change_id": None if number is None else str(number),
            "action": alteration.action,
            "resource_id": alteration.resource.id,
            "flag_id": alteration.scope.flag_id,
            "flag_key": alteration.scope.flag_key,
            "fields": [{"field": name, "before": before, "after": after} for name, before, after in alteration.fields],
        }


Service = Annotated[Copies, Depends(service(Copies))]


@router.post(
    "/copy",
    response_model=CopyOut,
    responses=problems(400, 401, 404, 409, 413, 503),
)
@writes(
    Permission.FLAGS_WRITE,
    Permission.FLAGS_READ,
    place="environment",
    body_max_bytes=SMALL_BODY,
    reports_revision=True,
    repeatable=True,
    priority=Priority.LONG,
)
async def copy_flags(project_id: Id, body: CopyBody, actor: CurrentActor, copies: Service) -> Response:
    """Make flags in one environment like those with the same keys in another, in the chosen parts, or change nothing.

    - A flag that the environment does not have is created. It is off unless `state`, `rollout`, `rules` and
      `prerequisites` are all copied, so that it is never on for more users.
    - The users of a rollout stay the same: `bucketing_key` and `stickiness` are copied with `rollout`, with variants
      and with rules that have a percentage. A flag whose own shares are not copied is refused if the copy would choose
      other users for them.
    - Equal rules are kept; others are changed, created and deleted.
    - If some flags cannot be copied, nothing is (409), and `errors` has the reason for each. An archived flag is not
      changed, and the flags that a flag needs must exist or be copied with it.

    Needs `flags:read` in the one environment, and in the other `flags:write`, also `rules:write` for `rules`, and for
    `state` alone only `flags:toggle`. Each flag and each rule that is written is a change in the audit trail.
    """
    copied = await copies.copy(
        actor,
        project_id,
        body.from_id,
        body.to_id,
        Wanted(body.flag_keys, frozenset(body.parts)),
        dry_run=body.dry_run,
        if_unchanged=body.if_unchanged,
    )
    alterations = await collect(map(encoded, _views(copied)))  # of thousands of rules, for instance
    return json_response({"fingerprint": copied.fingerprint, "alterations": alterations})
