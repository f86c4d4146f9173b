"""The origins of recorded evaluations and events: the revision of the flags, the SDK key, the protocol, the instance.

The kind of the key is kept as well, because the key may be revoked before anybody reads the record.

Most records of a batch share all of these, so each combination is kept once, with a place for each record.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from flagstaff.projects.sdk_keys import KeyKind

_FIELDS = 4


class Origin(NamedTuple):
    """The origin of a record. `key_id` is None for the project's own key; `instance` is the instance's name.

    Events have no revision.
    """

    revision: int | None
    key_id: UUID | None
    protocol: str
    instance: str

    def key_name(self, names: Mapping[UUID, str]) -> str | None:
        """The name of the key, of those that exist; None for the project's own key."""
        return None if self.key_id is None else names.get(self.key_id)


@dataclass(frozen=True, slots=True)
class Origins:
    """The origins of successive records; None where an older release has recorded none.

    `places` has the place of each record's origin among the known ones; it is empty if all have the first. `kinds` has
    the kind of the key of each known one; an older release has recorded none. Batches of events are of one kind, which
    is kept with the batch.
    """

    known: Sequence[Origin | None]
    places: Sequence[int] = ()
    kinds: Sequence[KeyKind | None] = ()

    def at(self, offset: int) -> Origin | None:
        """The origin of one record."""
        return self.known[self.places[offset] if self.places else 0]

    def kind_at(self, offset: int) -> KeyKind | None:
        """The kind of the key of one record; None if an older release has recorded it."""
        return self.kinds[self.places[offset] if self.places else 0] if self.kinds else None

    def part(self, part: slice) -> "Origins":
        """The origins of some successive records."""
        return self._of_places(self.places[part])

    def only(self, offsets: Sequence[int]) -> "Origins":
        """The origins of some of the records."""
        return self._of_places([self.places[offset] for offset in offsets] if self.places else ())

    def _of_places(self, places: Sequence[int]) -> "Origins":
        used = {place: number for number, place in enumerate(dict.fromkeys(places))}
        known, kinds = self.known, self.kinds
        if used:
            known, kinds = [known[place] for place in used], [kinds[place] for place in used] if kinds else ()
        return Origins(known, [used[place] for place in places] if len(used) > 1 else (), kinds)

    def check(self, size: int) -> None:
        """Raise ValueError unless they can be the origins of so many evaluations."""
        if len(self.kinds) not in (0, len(self.known)):
            raise ValueError("the kinds of keys do not fit the origins")
        if not self.known or len(self.places) not in (0, size) or not set(self.places) <= set(range(len(self.known))):
            raise ValueError("the origins do not fit the records")

    def texts(self) -> list[str | None]:
        """The known origins as texts, four for each."""
        return [text for origin in self.known for text in _texts(origin)]


def joined_origins(parts: Iterable[tuple[Origins | None, int]]) -> Origins | None:
    """The origins of successive parts, each with its number of evaluations; None if none is known."""
    numbers: dict[tuple[Origin | None, KeyKind | None], int] = {}
    places: list[int] = []
    for origins, size in parts:
        found = origins or Origins([None])
        kinds = found.kinds or [None] * len(found.known)
        own = [numbers.setdefault(each, len(numbers)) for each in zip(found.known, kinds, strict=True)]
        places += [own[place] for place in found.places] if found.places else own * size
    if set(numbers) <= {(None, None)}:
        return None
    kinds = [kind for _, kind in numbers]
    return Origins([origin for origin, _ in numbers], places if len(numbers) > 1 else (), kinds if any(kinds) else ())


def origins_of_texts(
    texts: Sequence[str | None], places: Sequence[int], kinds: Sequence[KeyKind | None] = ()
) -> Origins:
    """The origins from their stored form. Raises ValueError if it is damaged."""
    if len(texts) % _FIELDS:
        raise ValueError("the origins are incomplete")
    return Origins([_origin(*texts[start : start + _FIELDS]) for start in range(0, len(texts), _FIELDS)], places, kinds)


def _texts(origin: Origin | None) -> Iterable[str | None]:
    if origin is None:
        return (None,) * _FIELDS
    key_id = None if origin.key_id is None else str(origin.key_id)
    revision = None if origin.revision is None else str(origin.revision)
    return revision, key_id, origin.protocol, origin.instance


def _origin(revision: str | None, key_id: str | None, protocol: str | None, instance: str | None) -> Origin | None:
    if protocol is None or instance is None:
        return None
    number = None if revision is None else int(revision)
    return Origin(number, None if key_id is None else UUID(key_id), protocol, instance)
