"""HTTP of targeting rules. Once a change's response is sent, no evaluation sees the state before it."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any
from uuid import UUID

import msgspec
from fastapi import Depends
from pydantic import Field, model_validator
from pydantic.config import JsonDict
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.entity_tags import TaggedOut, if_match, tagged_response
from flagstaff.api.ids import Id
from flagstaff.api.lists import AwareDatetime, Listing, ListPart
from flagstaff.api.operations import reads, writes
from flagstaff.api.routers import Router
from flagstaff.api.schemas import CASES, Body, Update
from flagstaff.database.preconditions import Precondition
from flagstaff.flags.field_schemas import Priority, RulePercentage, RuleTypeName, RuleValue, VariantKey
from flagstaff.flags.flag_path_schemas import FlagIds
from flagstaff.flags.flags import PRIORITY_MAX, PRIORITY_MIN, RULE_VALUE_MAX_LENGTH, Rule, RuleType
from flagstaff.flags.targeting.condition_schemas import ConditionBody, Conditions, read_conditions
from flagstaff.flags.targeting.rules_service import Rules
from flagstaff.http.operations import CONDITIONS_BODY
from flagstaff.http.problems import problems
from flagstaff.http.responses import no_content
from flagstaff.http.services import service
from flagstaff.permissions.permissions import Permission
from flagstaff.values.views import view_of

router = Router(prefix="/api/projects/{project_id}/environments/{env_id}", tags=["Targeting rules"])

_RULES = "/flags/{flag_id}/rules"


_VALUE: JsonDict = {"type": "string", "minLength": 1, "maxLength": RULE_VALUE_MAX_LENGTH, "pattern": r"\S"}


def _case(rule_type: RuleType, whom: str, value: str | None) -> JsonDict:
    constant: JsonDict = {"type": "string", "const": rule_type}
    description = f"A new rule for {whom}."
    if value is None:
        return {
            "description": f"{description} An empty list of them means everyone.",
            "properties": {"rule_type": constant},
            "required": ["conditions"],
            "without": ["rule_value"],
        }
    described: JsonDict = {**_VALUE, "description": value}
    members: JsonDict = {"rule_type": constant, "rule_value": described}
    return {"description": description, "properties": members, "required": ["rule_value"]}


_CASES: JsonDict = {
    "NewUserIdRule": _case(RuleType.USER_ID, "the user with an id", "Must equal `user_id` exactly."),
    "NewUserEmailRule": _case(RuleType.USER_EMAIL, "the user with an email", "Must equal `user_email`, ignoring case."),
    "NewEmailDomainRule": _case(
        RuleType.EMAIL_DOMAIN, "users at a domain", "Such as `acme.com` or `@acme.com`, without its subdomains."
    ),
    "NewAttributesRule": _case(RuleType.ATTRIBUTES, "the users who meet its conditions", None),
    "NewSegmentRule": _case(RuleType.SEGMENT, "the users of a segment", "The key of a segment of the project."),
}


class RuleOut(TaggedOut, of=Rule):
    """A targeting rule. The flag is on for users who match it."""

    conditions: list[ConditionBody]
    rollout_percentage: RulePercentage


class NewRule(
    Body,
    of=Rule,
    without=("id", "flag_id", "created_at", "updated_at"),
    json_schema_extra={"required": ["rule_type"], CASES: _CASES},
):
    """A new rule. If several rules match, the one with the highest priority gives the reason."""

    rule_type: RuleTypeName
    rule_value: RuleValue | None
    priority: Priority = 0
    enabled: bool = True
    conditions: Conditions = Field(default=[])
    rollout_percentage: RulePercentage = 100
    variant: VariantKey | None = None

    @model_validator(mode="before")
    @classmethod
    def _add_no_value(cls, given: Any) -> Any:
        if isinstance(given, dict) and given.get("rule_type") == RuleType.ATTRIBUTES:
            return {"rule_value": None, **given}
        return given

    def given(self) -> dict[str, Any]:
        """The fields with their defaults; the conditions only if they are in the request."""
        return self.model_dump(exclude={"conditions"} - self.model_fields_set)


class RuleUpdate(Update, of=Rule, like=NewRule):
    """The fields to change."""


_view = view_of(Rule)


Weight = Annotated[int, msgspec.Meta(ge=-PRIORITY_MAX, le=-PRIORITY_MIN)]  # a priority with its sign changed
_of_flag = Listing(_view, lambda rule: (-rule.priority, rule.created_at, rule.id), tuple[Weight, AwareDatetime, UUID])
_of_environment = Listing(
    _view,
    lambda rule: (rule.flag_id, -rule.priority, rule.created_at, rule.id),
    tuple[UUID, Weight, AwareDatetime, UUID],
)


_readers: dict[str, Callable[[Any], Any]] = {"rule_type": RuleType, "conditions": read_conditions}


def read_values(given: dict[str, Any]) -> dict[str, Any]:
    """The fields of a request's body as the domain has them."""
    return {name: _readers[name](value) if name in _readers else value for name, value in given.items()}


Service = Annotated[Rules, Depends(service(Rules))]
IfMatch = Annotated[Precondition[Rule], Depends(if_match("rule", _view))]


@router.post(
    _RULES,
    status_code=201,
    response_model=RuleOut,
    responses=problems(400, 401, 404, 409, 413, 503),
)
@writes(Permission.RULES_WRITE, body_max_bytes=CONDITIONS_BODY, reports_revision=True, repeatable=True)
async def create_rule(path: FlagIds, body: NewRule, actor: CurrentActor, rules: Service) -> Response:
    """Create a rule."""
    return tagged_response(_view(await rules.create_rule(actor, path, **read_values(body.given()))), 201)


@router.get(
    _RULES,
    response_model=list[RuleOut],
    responses=problems(400, 401, 404, 503),
)
@reads(Permission.FLAGS_READ)
async def list_rules(path: FlagIds, part: ListPart, actor: CurrentActor, rules: Service) -> Response:
    """The rules of a flag in the order in which they are tried: highest priority first, then oldest first."""
    return await _of_flag.respond(part, partial(rules.list_rules, actor, path))


@router.get(
    _RULES + "/{rule_id}",
    response_model=RuleOut,
    responses=problems(401, 404, 503),
)
@reads(Permission.FLAGS_READ)
async def get_rule(path: FlagIds, rule_id: Id, actor: CurrentActor, rules: Service) -> Response:
    """One rule."""
    return tagged_response(_view(await rules.get_rule(actor, path, rule_id)))


@router.put(
    _RULES + "/{rule_id}",
    response_model=RuleOut,
    responses=problems(400, 401, 404, 413, 503),
)
@writes(Permission.RULES_WRITE, body_max_bytes=CONDITIONS_BODY, reports_revision=True)
async def update_rule(
    path: FlagIds, rule_id: Id, body: RuleUpdate, actor: CurrentActor, rules: Service, precondition: IfMatch
) -> Response:
    """Update a rule. Only the given fields change."""
    return tagged_response(
        _view(await rules.update_rule(actor, path, rule_id, precondition, **read_values(body.given())))
    )


@router.delete(
    _RULES + "/{rule_id}",
    status_code=204,
    responses=problems(401, 404, 503),
)
@writes(Permission.RULES_WRITE, reports_revision=True)
async def delete_rule(
    path: FlagIds, rule_id: Id, actor: CurrentActor, rules: Service, precondition: IfMatch
) -> Response:
    """Delete a rule."""
    await rules.delete_rule(actor, path, rule_id, precondition)
    return no_content()


@router.get(
    "/rules",
    response_model=list[RuleOut],
    responses=problems(400, 401, 404, 503),
)
@reads(Permission.FLAGS_READ)
async def list_environment_rules(
    project_id: Id, env_id: Id, part: ListPart, actor: CurrentActor, rules: Service
) -> Response:
    """The rules of all flags of an environment, grouped by flag, in the order in which they are tried."""
    return await _of_environment.respond(part, partial(rules.list_rules_of_environment, actor, project_id, env_id))
