"""Schemas of responses and bodies whose fields follow from a dataclass."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal
from uuid import UUID

import pytest
from pydantic import Field, ValidationError

from flagstaff.api.schemas import Body, FlagKey, Update
from flagstaff.http.response_models import ResponseModel


class Rig(StrEnum):
    SLOOP = "sloop"
    KETCH = "ketch"


@dataclass(frozen=True, slots=True)
class Ship:
    id: UUID
    key: str
    name: str
    built_at: datetime
    crew: tuple[UUID, ...]
    rig: Rig
    home: str | None
    length: int = 12
    afloat: bool = True
    state: Literal["new", "old"] | None = None


class ShipOut(ResponseModel, of=Ship):
    """A ship."""

    length: int = Field(description="In metres.")
    owner: str


class NewShip(Body, of=Ship, without=("id", "built_at", "crew", "rig", "state")):
    """A new ship."""

    key: FlagKey
    length: int = 7
    copy_of: str = "none"


class ShipUpdate(Update, of=Ship, like=NewShip, without=("key",)):
    """The fields to change."""


class ShipStep(Body, like=NewShip, without=("key",)):
    """A part of an update."""


def properties(model: type[Any]) -> dict[str, Any]:
    found: dict[str, Any] = model.model_json_schema()["properties"]
    return found


def test_a_field_to_leave_out_that_does_not_exist_is_refused() -> None:
    with pytest.raises(TypeError, match="no field colour"):

        class _ColourlessOut(ResponseModel, of=Ship, without=("colour",)):
            pass

    with pytest.raises(TypeError, match="no field colour"):

        class _Colourless(Body, like=NewShip, without=("colour",)):
            pass


def test_a_field_whose_type_json_lacks_needs_a_schema() -> None:
    @dataclass
    class Fleet:
        ships: tuple[Ship, ...]

    with pytest.raises(TypeError, match="needs a schema"):

        class _FleetOut(ResponseModel, of=Fleet):
            pass


def test_a_number_in_a_body_needs_a_schema_with_its_bounds() -> None:
    with pytest.raises(TypeError, match="the field length needs a schema"):

        class _Short(Body, of=Ship, without=("id", "built_at", "crew", "rig", "state")):
            pass


def test_a_response_has_the_fields_in_their_order_and_then_its_own() -> None:
    found = properties(ShipOut)
    assert list(found) == [
        *("id", "key", "name", "built_at", "crew", "rig", "home", "length", "afloat", "state"),
        "owner",
    ]
    assert ShipOut.model_json_schema()["required"] == list(found)
    assert found["id"]["format"] == "uuid"
    assert found["built_at"]["format"] == "date-time"
    assert found["crew"]["items"]["format"] == "uuid"
    assert found["rig"]["enum"] == ["sloop", "ketch"]
    assert found["home"]["anyOf"] == [{"type": "string"}, {"type": "null"}]
    assert found["length"]["description"] == "In metres."
    assert found["state"]["anyOf"][0]["enum"] == ["new", "old"]


def test_a_new_resource_has_the_fields_with_their_defaults_and_checks_texts_as_names() -> None:
    with pytest.raises(ValidationError, match="must not be empty"):
        NewShip.model_validate({"key": "ada", "name": ""})
    with pytest.raises(ValidationError, match="name"):
        NewShip.model_validate({"key": "ada"})
    assert NewShip.model_validate({"key": "ada", "name": " Ada "}).model_dump() == {
        "key": "ada",
        "name": "Ada",
        "home": None,
        "length": 7,
        "afloat": True,
        "copy_of": "none",
    }


def test_an_update_has_only_what_is_given_of_the_resources_fields_and_ignores_the_others() -> None:
    with pytest.raises(ValidationError, match="copy_of"):
        ShipUpdate.model_validate({"copy_of": "ada"})
    with pytest.raises(ValidationError, match="name"):
        ShipUpdate.model_validate({"name": None})
    given = ShipUpdate.model_validate({"key": "bob", "id": "x", "home": None, "length": 3})
    assert given.given() == {"home": None, "length": 3}
    assert {name for name, each in properties(ShipUpdate).items() if each.get("readOnly")} == {
        *("id", "key", "built_at", "crew", "rig", "state")
    }


def test_a_body_like_another_lets_each_field_be_left_out() -> None:
    assert ShipStep.model_validate({"afloat": False}).model_fields_set == {"afloat"}
    assert "required" not in ShipStep.model_json_schema()
    assert list(properties(ShipStep)) == ["name", "home", "length", "afloat", "copy_of"]
