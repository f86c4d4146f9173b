"""Lists over HTTP: whole arrays, or with `limit` a part, whose `Link` header links to the next one.

A long list is read and sent some items at a time, so that its size in memory does not depend on its length.
"""

import base64
import binascii
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Generic, TypeVar
from urllib.parse import urlencode
from uuid import UUID

import msgspec
from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from flagstaff.api.schemas import Text
from flagstaff.http.responses import json_array_response, json_array_stream
from flagstaff.values.errors import invalid_field
from flagstaff.values.keys import FLAG_KEY_PATTERN, KEY_MAX_LENGTH
from flagstaff.values.lists import Window

LIMIT_MAX = 1000
_ITEMS_AT_ONCE = 200  # with the longest descriptions 8 MB, with the longest variants 25 MB

T = TypeVar("T")


class ListQuery(BaseModel):
    """The part of a list to return."""

    model_config = ConfigDict(extra="forbid")

    limit: Annotated[
        int | None, Field(ge=1, le=LIMIT_MAX, description="The maximum number of items; by default the whole list.")
    ] = None
    cursor: Annotated[
        Text | None, Field(description="Where to start: the `cursor` in the `Link` header of the previous part.")
    ] = None


ListPart = Annotated[ListQuery, Query()]
AwareDatetime = Annotated[datetime, msgspec.Meta(tz=True)]
BY_AGE: Any = tuple[AwareDatetime, UUID]
"""The position in a list that is ordered by time of creation and id."""
BY_FLAG_KEY: Any = tuple[Annotated[str, msgspec.Meta(pattern=FLAG_KEY_PATTERN, max_length=KEY_MAX_LENGTH)]]
"""The position in a list that is ordered by the keys of flags. Another text could be one that no database takes."""


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """A list: how an item is shown, and its position, which is the values that the list is ordered by."""

    view: Callable[[T], dict[str, Any]]
    position_of: Callable[[T], tuple[Any, ...]]
    position: Any

    async def respond(self, part: ListQuery, fetch: Callable[[Window], Awaitable[list[T]]]) -> Response:
        """The requested part as an array; raises Error INVALID for an invalid cursor.

        Whoever sends the response must expect `fetch` to raise an Error while it is being sent.
        """
        after = self._read(part.cursor) if part.cursor is not None else None
        limit = part.limit or _ITEMS_AT_ONCE
        # One extra item shows whether there are more.
        found = await fetch(Window(limit + 1, after))
        if len(found) <= limit:
            return await json_array_response(map(self.view, _taken(found)))
        if part.limit is None:
            return json_array_stream(self._rest(found, fetch))
        del found[limit:]
        given = part.model_dump(mode="json", by_alias=True, exclude_unset=True) | {
            "limit": limit,
            "cursor": self._cursor(found[-1]),
        }
        link = f'<?{urlencode({name: _in_query(value) for name, value in given.items()})}>; rel="next"'
        return await json_array_response(map(self.view, _taken(found)), {"link": link})

    async def _rest(
        self, found: list[T], fetch: Callable[[Window], Awaitable[list[T]]]
    ) -> AsyncIterator[Iterator[dict[str, Any]]]:
        """A list from the items already found, one more than are taken at once, to its end."""
        while len(found) > _ITEMS_AT_ONCE:
            del found[_ITEMS_AT_ONCE:]
            last = self.position_of(found[-1])
            yield map(self.view, _taken(found))
            found = await fetch(Window(_ITEMS_AT_ONCE + 1, last))
        yield map(self.view, _taken(found))

    def _cursor(self, item: T) -> str:
        return base64.urlsafe_b64encode(msgspec.json.encode(self.position_of(item))).rstrip(b"=").decode()

    def _read(self, cursor: str) -> tuple[Any, ...]:
        try:
            text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
            position: tuple[Any, ...] = msgspec.json.decode(text, type=self.position)
        except (ValueError, binascii.Error, msgspec.DecodeError, RecursionError):
            raise invalid_field("cursor", "is not a cursor of this list; leave it out to get the first part") from None
        return position


def _in_query(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _taken(items: list[T]) -> Iterator[T]:
    """The items, removed from the list one by one, so that a long list is not in memory together with its encoding."""
    items.reverse()
    while items:
        yield items.pop()
