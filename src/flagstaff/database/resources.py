"""Resources as rows: a dataclass's fields and a table's columns, matched by name once, when the module is imported.

It knows no resource. A store says which dataclass is in which table, and which fields are stored in another form.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import sqlalchemy as sa

T = TypeVar("T")
Convert = Callable[[Any], Any]

_NEVER_CHANGED = frozenset({"id", "project_id", "environment_id", "flag_id", "key", "created_at"})


class Resource(Generic[T]):
    """A dataclass whose instances are rows of a table, with a column for each field with which they are made.

    `also` has the columns of fields that another table has. `reads` converts stored values of fields but for None, and
    `writes` the values of fields for the table. Fields in `fixed` never change by `changes`, nor do ids, keys and the
    time of the creation.
    """

    def __init__(
        self,
        kind: type[T],
        table: sa.Table,
        *,
        also: Mapping[str, sa.ColumnElement[Any]] | None = None,
        reads: Mapping[str, Convert] | None = None,
        writes: Mapping[str, Convert] | None = None,
        fixed: frozenset[str] = frozenset(),
    ) -> None:
        """Raises KeyError for a field without a column, and for a conversion of a field that does not exist."""
        also, reads, writes = also or {}, reads or {}, writes or {}
        present: Mapping[str, Any] = kind.__dataclass_fields__  # type: ignore[attr-defined]
        fields = [name for name, each in present.items() if each.init]
        places = {name: place for place, name in enumerate(fields)}
        self.columns = tuple(also[name] if name in also else table.c[name] for name in fields)
        """The columns of the fields, in the order of the fields."""
        self._kind = kind
        self._reads = [(places[name], convert) for name, convert in reads.items()]
        self._stored = tuple(name for name in fields if name not in also)
        self._mutable = tuple(name for name in self._stored if name not in _NEVER_CHANGED | fixed)
        self._writes = {fields[places[name]]: convert for name, convert in writes.items()}

    def select(self, *more: sa.ColumnElement[Any]) -> sa.Select[*tuple[Any, ...]]:
        """Select the columns that `read` takes, and more after them."""
        return sa.select(*self.columns, *more)

    def read(self, row: Sequence[Any]) -> T:
        """The resource of a row that begins with the columns of `select`."""
        values = list(row[: len(self.columns)])
        for place, convert in self._reads:
            if values[place] is not None:
                values[place] = convert(values[place])
        return self._kind(*values)

    def row(self, resource: T) -> dict[str, Any]:
        """A new row. A column for which the resource has no field gets its default."""
        return self._values(resource, self._stored)

    def changes(self, resource: T) -> dict[str, Any]:
        """The columns of the fields that can change."""
        return self._values(resource, self._mutable)

    def _values(self, resource: T, names: Sequence[str]) -> dict[str, Any]:
        values = {name: getattr(resource, name) for name in names}
        for name, convert in self._writes.items():
            if name in values:
                values[name] = convert(values[name])
        return values
