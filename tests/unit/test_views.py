"""Resources in responses, and in rows of a table."""

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa

from flagstaff.database.resources import Resource
from flagstaff.values.views import view_of

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Ship:
    id: int
    key: str
    tags: tuple[str, ...]
    built_at: datetime
    sunk_at: datetime | None = None
    fleet: str = ""


FLEETS = sa.Table("fleets", sa.MetaData(), sa.Column("name", sa.Text))
SHIPS = sa.Table(
    "ships", sa.MetaData(), *(sa.Column(name, sa.Text) for name in ("sunk_at", "id", "key", "tags", "built_at", "more"))
)
RESOURCE = Resource(
    Ship,
    SHIPS,
    also={"fleet": FLEETS.c.name},
    reads={"tags": tuple},
    writes={"tags": list},
    fixed=frozenset({"built_at"}),
)
SHIP = Ship(1, "ada", ("fast", "old"), NOON, fleet="north")


def test_a_view_of_a_field_that_does_not_exist_is_refused() -> None:
    with pytest.raises(KeyError, match="colour"):
        view_of(Ship, colour=str)
    with pytest.raises(KeyError, match="colour"):
        view_of(Ship, without=("colour",))


def test_a_field_without_a_column_and_a_conversion_of_no_field_are_refused() -> None:
    with pytest.raises(KeyError, match="fleet"):
        Resource(Ship, SHIPS)
    with pytest.raises(KeyError, match="colour"):
        Resource(Ship, SHIPS, also={"fleet": FLEETS.c.name}, reads={"colour": str})


def test_a_view_has_all_fields_in_their_order_with_formatted_times() -> None:
    assert list(view_of(Ship, tags=len)(SHIP).items()) == [
        ("id", 1),
        ("key", "ada"),
        ("tags", 2),
        ("built_at", "2026-11-20T12:00:00.000000Z"),
        ("sunk_at", None),
        ("fleet", "north"),
    ]


def test_a_view_leaves_out_what_it_is_without() -> None:
    view = view_of(Ship, without=("id", "built_at", "tags"))
    assert view(SHIP) == {"key": "ada", "sunk_at": None, "fleet": "north"}


def test_a_stored_none_is_read_as_it_is() -> None:
    assert RESOURCE.read((1, "ada", None, NOON, None, "north")).tags is None


def test_a_row_is_read_by_the_names_of_the_fields_and_may_have_more_columns() -> None:
    assert [each.name for each in RESOURCE.select(SHIPS.c.more).selected_columns] == [
        *("id", "key", "tags", "built_at", "sunk_at"),
        *("name", "more"),
    ]
    assert RESOURCE.read((1, "ada", ["fast", "old"], NOON, None, "north", "ignored")) == SHIP


def test_a_new_row_has_the_tables_own_fields_and_a_change_those_that_can_change() -> None:
    assert RESOURCE.row(SHIP) == {"id": 1, "key": "ada", "tags": ["fast", "old"], "built_at": NOON, "sunk_at": None}
    assert RESOURCE.changes(SHIP) == {"tags": ["fast", "old"], "sunk_at": None}
