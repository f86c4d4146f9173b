"""Types that several resources share: strict values that the domain checks, and base classes of request bodies."""

from collections.abc import Callable, Collection
from dataclasses import MISSING, fields
from datetime import datetime
from inspect import get_annotations
from types import NoneType
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from flagstaff.http import response_models
from flagstaff.http.response_models import ResponseModel, left_in, types_of
from flagstaff.permissions.members import Role
from flagstaff.values import emails, keys, moments, text, zones

CASES = "x-cases"
"""The keyword of a schema whose members depend on each other, for `assembly/openapi_types.py`, which removes it.

Its value has for each case, by the name of its schema, what this has in another form: `properties`, further `required`
ones, those that it is `without` or the `only` ones, and other keywords. A case that is a schema already is empty.
"""
NOT_A_CURSOR = "is not a cursor of this list; leave it out to start with the newest"


def converted(kind: Callable[[str], object]) -> AfterValidator:
    """Converts a text that was accepted, such as to a member of an enumeration.

    It is a function because Pydantic reads the signature of what it calls, and an enumeration's signature tells it
    nothing since Python 3.12.
    """

    def convert(given: str) -> object:
        return kind(given)

    return AfterValidator(convert)


Text = Annotated[str, AfterValidator(text.check_text)]

# The constraints in `json_schema_extra` only document what the domain's checks enforce.
Name = Annotated[
    str,
    AfterValidator(text.check_name),
    Field(json_schema_extra={"minLength": 1, "maxLength": text.NAME_MAX_LENGTH, "pattern": r"\S"}),
]
Description = Annotated[
    str,
    AfterValidator(text.check_description),
    Field(json_schema_extra={"maxLength": text.DESCRIPTION_MAX_LENGTH}),
]
EnvironmentKey = Annotated[
    str,
    AfterValidator(keys.check_environment_key),
    Field(
        json_schema_extra={"minLength": 1, "maxLength": keys.KEY_MAX_LENGTH, "pattern": keys.ENVIRONMENT_KEY_PATTERN}
    ),
]
FlagKey = Annotated[
    str,
    AfterValidator(keys.check_flag_key),
    Field(json_schema_extra={"minLength": 1, "maxLength": keys.KEY_MAX_LENGTH, "pattern": keys.FLAG_KEY_PATTERN}),
]


def at_most(items: int) -> BeforeValidator:
    """A bound on a list or an object, checked before its items: the framework makes an error of each wrong one."""

    def check(given: Any) -> Any:
        if isinstance(given, list | dict) and len(given) > items:
            raise ValueError(f"must have at most {items:,} items")
        return given

    return BeforeValidator(check)


def distinct(one: str, *, may_be_empty: bool = False) -> AfterValidator:
    """Different items of a kind, such as "a flag": not the same one twice, and not none unless it may be empty."""

    def check(given: list[Any]) -> list[Any]:
        if not given and not may_be_empty:
            raise ValueError(f"must have at least one {one.partition(' ')[2]}")
        if len(set(given)) < len(given):
            raise ValueError(f"must not have {one} twice")
        return given

    return AfterValidator(check)


Email = Annotated[
    str,
    AfterValidator(emails.check_email),
    Field(json_schema_extra={"format": "email", "maxLength": emails.EMAIL_MAX_LENGTH}),
]
RoleName = Annotated[Literal["owner", "admin", "editor", "viewer"], converted(Role)]
EnvironmentRoles = Annotated[
    dict[EnvironmentKey, Annotated[Literal["admin", "editor", "viewer"], converted(Role)]],
    Field(description="The roles in environments, by their keys, that replace the role in the project."),
]


def _read_moment(given: object, info: ValidationInfo) -> datetime:
    if not isinstance(given, str):
        raise ValueError(moments.EXPECTED)  # noqa: TRY004 - Pydantic collects only ValueErrors
    return moments.parse_moment(given, zones.parse_zone(info.data.get("tz", "UTC")))


GivenMoment = Annotated[
    datetime, BeforeValidator(_read_moment), WithJsonSchema({"type": "string", "format": "date-time"})
]
Since = Annotated[
    GivenMoment | None,
    Field(description="Only at or after this time. A date alone is its start in UTC."),
]
Until = Annotated[
    GivenMoment | None,
    Field(description="Only before this time. A date alone is its start in UTC."),
]
TimeZone = Annotated[
    str,
    AfterValidator(zones.check_zone),
    Field(json_schema_extra={"maxLength": zones.ZONE_MAX_LENGTH, "examples": ["Europe/Berlin"]}),
]
"""The name of a time zone. A model has it as `tz`, before its times, so that a date alone is its start there."""
DatesZone = Annotated[
    TimeZone, Field(description="The time zone of dates alone, by its IANA name, instead of UTC: `Europe/Berlin`.")
]


def optional() -> Any:
    """A field of an update that may be left out but not null. It has no default to document."""
    return Field(default_factory=str)


RetentionDays = Annotated[int, Field(ge=1, le=36_500)]
"""For how many days a history is kept."""

# More than any resource has. Each unknown field takes time on the event loop, and a body can contain thousands.
FIELDS_MAX = 40


class Body(BaseModel):
    """A request body: strict types, no unknown fields.

    The body of a new resource `of` a dataclass has its fields in their order and with their defaults: a text is a name,
    and what can be None may be left out. A body `like` another has its fields, of which each may be left out. Both lack
    those that they are `without`. The body itself has the other fields.
    """

    model_config = ConfigDict(strict=True, extra="forbid")

    def __init_subclass__(
        cls,
        of: type[Any] | None = None,
        like: "type[Body] | None" = None,
        without: Collection[str] = (),
        **more: Any,
    ) -> None:
        """Raises TypeError for a field that is no text and no truth value, unless the body has it."""
        super().__init_subclass__(**more)
        own, defaults = get_annotations(cls), dict[str, Any]()
        if like is not None:
            of_like = {name: kind for name, kind in get_annotations(like).items() if of is None or name in types_of(of)}
            types = left_in(of_like, without)
            defaults = {name: optional() for name in types}
        elif of is not None:
            types = {name: own.get(name) or _given(name, kind) for name, kind in types_of(of, without).items()}
            defaults = {each.name: each.default for each in fields(of) if each.default is not MISSING}
        else:
            return
        cls.__annotations__ = types | own
        for name in types.keys() - own.keys():
            if name in defaults or NoneType in get_args(types[name]):
                setattr(cls, name, None if NoneType in get_args(types[name]) else defaults[name])

    @model_validator(mode="before")
    @classmethod
    def _bound_fields(cls, given: Any) -> Any:
        if isinstance(given, dict) and len(given) > FIELDS_MAX:
            raise ValueError(f"has {len(given)} fields; at most {FIELDS_MAX} are accepted")
        return given


def _given(name: str, kind: Any) -> Any:
    """The type of a field in a body."""
    if kind not in _GIVEN:
        raise TypeError(f"the field {name} needs a schema: only texts and truth values have one by themselves")
    return _GIVEN[kind]


_GIVEN = {str: Name, bool: bool, str | None: Name | None}


class Update(Body):
    """The body of a PUT: only given fields change. Read-only fields are ignored, so the result of a GET can be sent.

    They are the fields of the dataclass that the update is `of` and that it lacks.
    """

    read_only: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, of: type[Any] | None = None, **more: Any) -> None:
        """Raises TypeError as for a body."""
        super().__init_subclass__(of=of, **more)
        if of is not None:
            cls.read_only = frozenset(types_of(of).keys() - get_annotations(cls).keys())

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        document = handler.resolve_ref_schema(handler(schema))
        for name in sorted(cls.read_only):
            document["properties"][name] = {"readOnly": True, "description": "Accepted and ignored."}
        return document

    @model_validator(mode="before")
    @classmethod
    def _ignore_read_only(cls, given: Any) -> Any:
        if isinstance(given, dict):
            return {name: value for name, value in given.items() if name not in cls.read_only}
        return given

    def given(self) -> dict[str, Any]:
        """The fields in the request."""
        return self.model_dump(exclude_unset=True)


class TokenOut(ResponseModel):
    """A bearer token, valid for 24 hours."""

    token: str


PublicKeyCredential = Annotated[
    dict[str, Any], Field(description="What `navigator.credentials` returned, as `toJSON()` of a PublicKeyCredential.")
]
Uuid = response_models.Uuid
Moment = response_models.Moment
