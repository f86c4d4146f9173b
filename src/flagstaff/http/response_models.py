"""The base of the models that describe responses, and how their fields follow from a dataclass."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from enum import StrEnum
from inspect import get_annotations
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

Uuid = Annotated[str, Field(json_schema_extra={"format": "uuid"})]
Moment = Annotated[datetime, Field(examples=["2026-11-20T10:00:00.123456Z"])]


class ResponseModel(BaseModel):
    """Describes a response, for the OpenAPI document alone: responses are encoded by msgspec, from dictionaries.

    A model `of` a dataclass has its fields in their order, except for those that it is `without`. The model itself has
    only the fields with another type or a description, and those that the dataclass lacks, which come last.

    Nothing validates with it, and Pydantic builds it only when the document is made, not at each start.
    """

    model_config = ConfigDict(defer_build=True)

    def __init_subclass__(cls, of: type[Any] | None = None, without: Collection[str] = (), **more: Any) -> None:
        """Raises TypeError for a field whose type JSON does not have, unless the model has it."""
        super().__init_subclass__(**more)
        if of is not None:
            own, types = get_annotations(cls), types_of(of, without)
            cls.__annotations__ = {name: own.get(name) or as_json(kind) for name, kind in types.items()} | own


def types_of(kind: type[Any], without: Collection[str] = ()) -> dict[str, Any]:
    """The types of the fields of a dataclass by name; raises TypeError for a field to leave out that it lacks."""
    return left_in({each.name: each.type for each in fields(kind)}, without)


def left_in(types: Mapping[str, Any], without: Collection[str]) -> dict[str, Any]:
    """The types without the types of some fields; raises TypeError for a field that is not among them."""
    unknown = set(without) - types.keys()
    if unknown:
        raise TypeError(f"there is no field {unknown.pop()} to leave out")
    return {name: kind for name, kind in types.items() if name not in without}


def as_json(kind: Any) -> Any:
    """The type of a value in a response; raises TypeError for one that needs a schema of its own."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (UnionType, Union):
        (given,) = (each for each in parts if each is not NoneType)
        return as_json(given) | None
    if origin in (tuple, Sequence):
        return list[as_json(parts[0])]  # type: ignore[misc] # a type that is made at run time
    if kind in _AS_JSON:
        return _AS_JSON[kind]
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return Literal[tuple(each.value for each in kind)]
    if origin is Literal:
        return kind
    raise TypeError(f"a response that has {kind} needs a schema for it")


_AS_JSON = {UUID: Uuid, datetime: Moment, str: str, int: int, float: float, bool: bool}
