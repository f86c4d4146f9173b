"""JSON of any size, kept in parts that documents share, and read in chunks that a client's connection can hold.

Unleash's features repeat the conditions of a segment in each rule that names it. A thousand of them can be hundreds of
megabytes for a client, but in memory each long list of values is there once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

Feature = tuple[bytes, ...]
"""The JSON of a feature, of which parts may be shared with others."""

CHUNK_BYTES = 64 * 1024


class Digests:
    """Hashes features; of a long part that several share, the hash is computed once."""

    def __init__(self, start: bytes) -> None:
        self._hash = sha256(start)
        self._known: dict[int, bytes] = {}

    def add(self, feature: Feature) -> None:
        """Add a feature, which the caller keeps."""
        if len(feature) == 1:
            self._hash.update(feature[0])
        else:
            for part in feature:
                known = self._known.get(id(part))
                if known is None:
                    known = self._known[id(part)] = sha256(part).digest()
                self._hash.update(known)
        self._hash.update(b"\0")

    def hexdigest(self) -> str:
        """The hash of all features."""
        return self._hash.hexdigest()


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """A list of features between other JSON, and its length in bytes."""

    head: bytes
    features: Sequence[Feature]
    tail: bytes
    length: int

    @classmethod
    def of(cls, head: bytes, features: Sequence[Feature], tail: bytes) -> "Document":
        """A document."""
        length = len(head) + len(tail) + max(0, len(features) - 1)
        for feature in features:
            length += sum(map(len, feature))
        return cls(head, features, tail, length)

    def between(self, before: bytes, after: bytes) -> "Document":
        """The document with something in front of it and behind it."""
        length = self.length + len(before) + len(after)
        return Document(before + self.head, self.features, self.tail + after, length)

    def chunks(self) -> Iterator[bytes]:
        """The JSON in chunks of at most `CHUNK_BYTES`, so that a slow client makes nobody keep more."""
        gathered = bytearray(self.head)
        for place, feature in enumerate(self.features):
            if place:
                gathered += b","
            for part in feature:
                for start in range(0, len(part), CHUNK_BYTES):
                    gathered += part[start : start + CHUNK_BYTES]
                    while len(gathered) > CHUNK_BYTES:
                        yield bytes(gathered[:CHUNK_BYTES])
                        del gathered[:CHUNK_BYTES]
        gathered += self.tail
        while len(gathered) > CHUNK_BYTES:
            yield bytes(gathered[:CHUNK_BYTES])
            del gathered[:CHUNK_BYTES]
        yield bytes(gathered)

    def whole(self) -> bytes:
        """The JSON at once, for a short document."""
        return b"".join(self.chunks())
