"""Resources as responses have them: the fields of a dataclass by name."""

from collections.abc import Callable, Collection
from datetime import datetime
from operator import attrgetter
from typing import Any, TypeVar, get_args

from flagstaff.values.moments import format_moment

T = TypeVar("T")


def view_of(
    kind: type[T], without: Collection[str] = (), **views: Callable[[Any], Any]
) -> Callable[[T], dict[str, Any]]:
    """A function that returns a resource of a kind as responses have it: its fields, in their order.

    Those that it is `without` are left out. Times are formatted, and `views` converts other fields; neither is done
    with None. Raises KeyError for a view of a field that does not exist, and for one to leave out.
    """
    fields: dict[str, Any] = dict(kind.__dataclass_fields__)  # type: ignore[attr-defined]
    for name in without:
        del fields[name]
    names = tuple(fields)
    read = attrgetter(*names)
    times = {name: format_moment for name, each in fields.items() if datetime in (each.type, *get_args(each.type))}
    converted = [(fields[name].name, convert) for name, convert in (times | views).items()]

    def view(resource: T) -> dict[str, Any]:
        found = dict(zip(names, read(resource), strict=True))
        for name, convert in converted:
            if found[name] is not None:
                found[name] = convert(found[name])
        return found

    return view
