"""HTTP of comparing two environments."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
from fastapi import Depends, Query
from pydantic import Field
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.ids import GivenId, Id
from flagstaff.api.lists import BY_FLAG_KEY, Listing, ListQuery
from flagstaff.api.operations import reads
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Uuid
from flagstaff.concurrency.worker import in_worker
from flagstaff.copying.comparisons import Comparison, Side, recorded_content
from flagstaff.copying.comparisons_service import Comparisons
from flagstaff.flags.flags import Rule
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import encoded
from flagstaff.http.services import service
from flagstaff.permissions.permissions import Permission
from flagstaff.values.lists import Window

router = Router(prefix="/api/projects/{project_id}", tags=["Comparisons"])


class ComparisonQuery(ListQuery):
    """The environments to compare."""

    from_id: Annotated[GivenId, Field(alias="from", description="The id of an environment.")]
    to_id: Annotated[GivenId, Field(alias="to", description="The id of another one.")]


class SideOut(ResponseModel):
    """A flag in one of the environments."""

    id: Uuid
    name: str
    enabled: bool


class FieldDifferenceOut(ResponseModel):
    """A field in which the flags differ. The values of `rules` are all rules in the order in which they are tried."""

    field: str = Field(examples=["rollout_percentage"])
    origin: Any = Field(alias="from")
    target: Any = Field(alias="to")


class ComparisonOut(ResponseModel):
    """A flag that only one of the environments has, or in which they differ."""

    flag_key: str
    place: Literal["only_from", "only_to", "both"]
    origin: SideOut | None = Field(alias="from")
    target: SideOut | None = Field(alias="to")
    archived_in_other: bool = Field(
        description="Whether the environment that does not have the flag has an archived one with the same key."
    )
    fields: list[FieldDifferenceOut] = Field(description="What differs, if both environments have the flag.")


def _side(side: Side | None) -> dict[str, Any] | None:
    if side is None:
        return None
    return {"id": side.flag.id, "name": side.flag.name, "enabled": side.flag.enabled}


def _views(found: Sequence[Comparison]) -> list[dict[str, Any]]:
    return list(map(_view, found))


def _view(comparison: Comparison) -> dict[str, Any]:
    origin, target = comparison.origin, comparison.target
    fields: list[dict[str, Any]] = [
        {"field": each.field, "from": each.origin, "to": each.target} for each in comparison.fields
    ]
    if origin and target and comparison.rules_differ:
        before, after = _contents(origin.rules), _contents(target.rules)
        fields.append({"field": "rules", "from": before, "to": after})
    return {
        "flag_key": comparison.key,
        "place": comparison.place,
        "from": _side(origin),
        "to": _side(target),
        "archived_in_other": comparison.archived_in_other,
        "fields": fields,
    }


def _contents(rules: Sequence[Rule]) -> list[msgspec.Raw]:
    return [encoded(recorded_content(rule)) for rule in rules]


def _as_it_is(view: dict[str, Any]) -> dict[str, Any]:
    return view


_listing = Listing(_as_it_is, lambda view: (view["flag_key"],), BY_FLAG_KEY)


Service = Annotated[Comparisons, Depends(service(Comparisons))]


@router.get(
    "/compare",
    response_model=list[ComparisonOut],
    responses=problems(400, 401, 404, 503),
)
@reads(Permission.FLAGS_READ, place="environment", takes_long=True)
async def compare_environments(
    project_id: Id, query: Annotated[ComparisonQuery, Query()], actor: CurrentActor, comparisons: Service
) -> Response:
    """The flags in which two environments differ, by key. Flags that are the same in both are left out.

    Flags are matched by their keys. Rules are compared by their content, in the order in which they are checked, and
    not by their ids. Archived flags are left out. Needs `flags:read` in both environments.
    """

    async def fetch(window: Window) -> list[dict[str, Any]]:
        found = await comparisons.compare(actor, project_id, query.from_id, query.to_id, window)
        return await in_worker(_views, found)

    return await _listing.respond(query, fetch)
