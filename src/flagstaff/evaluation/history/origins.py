"""The origins of recorded evaluations: the revision of the flags, the SDK key, the protocol and the instance.

The kind of the key is kept as well, because the key may be revoked before anybody reads the evaluation.

Most evaluations of a batch share all of these, so each combination is kept once, with a place for each evaluation.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from flagstaff.projects.sdk_keys import KeyKind

_FIELDS = 4


class Origin(NamedTuple):
    """The origin of an evaluation. `key_id` is None for the project's own key; `instance` is the instance's name."""

    revision: int
    key_id: UUID | None
    protocol: str
    instance: str


@dataclass(frozen=True, slots=True)
class Origins:
    """The origins of successive evaluations; None where an older release has recorded none.

    `places` has the place of each evaluation's origin among the known ones; it is empty if all have the first. `kinds`
    has the kind of the key of each known one; an older release has recorded none.
    """

    known: Sequence[Origin | None]
    places: Sequence[int] = ()
    kinds: Sequence[KeyKind | None] = ()

    def at(self, offset: int) -> Origin | None:
        """The origin of one evaluation."""
        return self.known[self.places[offset] if self.places else 0]

    def kind_at(self, offset: int) -> KeyKind | None:
        """The kind of the key of one evaluation; None if an older release has recorded it."""
        return self.kinds[self.places[offset] if self.places else 0] if self.kinds else None

    def part(self, part: slice) -> "Origins":
        """The origins of some of the evaluations."""
        places = self.places[part]
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
            raise ValueError("the origins do not fit the evaluations")

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
    return str(origin.revision), key_id, origin.protocol, origin.instance


def _origin(revision: str | None, key_id: str | None, protocol: str | None, instance: str | None) -> Origin | None:
    if revision is None or protocol is None or instance is None:
        return None
    return Origin(int(revision), None if key_id is None else UUID(key_id), protocol, instance)
