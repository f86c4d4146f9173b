"""The features of an environment, as applications get them that evaluate flags themselves."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple
from uuid import UUID

from flagstaff.evaluation.unleash.documents import Digests, Document, Feature
from flagstaff.evaluation.unleash.past import Past

_MAX_PREFIXES = 16


class Payload(NamedTuple):
    """The document for applications, in Unleash's version 2, and its entity tag, without quotes.

    The tag is the same on all instances and in no other environment. It ends with the revision, so that it tells which
    state a client has.
    """

    tag: str
    document: Document


@dataclass(frozen=True, slots=True, eq=False)
class LocalFlags:
    """The JSON of each flag's feature by the flag's key, in the state of the environment with this revision."""

    environment_id: UUID
    environment_key: str
    revision: int
    features: Mapping[str, Feature]
    payloads: dict[str, Payload] = field(default_factory=dict)
    """By the prefix of the flags' keys."""
    past: Past = field(default_factory=Past)
    """The changes between the states that were loaded before; empty for the first."""

    def measure(self) -> int:
        """The bytes of all features, each shared part once."""
        sizes: dict[int, int] = {}
        for feature in self.features.values():
            sizes.update((id(part), len(part)) for part in feature)
        return sum(sizes.values())

    def after(self, before: "LocalFlags") -> "LocalFlags":
        """These flags with the past of the state before them."""
        payload = before.compose()
        return replace(self, past=before.past.followed_by(payload.tag, self.compare(before)))

    def compare(self, before: "LocalFlags") -> list[str]:
        """The keys of the flags that are not as they were before, or did not exist, or do not exist now."""
        keys = before.features.keys() | self.features.keys()
        return [key for key in keys if before.features.get(key) != self.features.get(key)]

    def compose(self, prefix: str = "") -> Payload:
        """The payload of the flags whose keys begin with a prefix; the kept one, if there is one by now."""
        known = self.payloads.get(prefix)
        if known is not None:  # many clients ask at once after a change
            return known
        chosen = [feature for key, feature in self.features.items() if key.startswith(prefix)]
        digests = Digests(self.environment_id.bytes)
        for feature in chosen:
            digests.add(feature)
        tail = b'],"segments":[],"query":{"environment":"%b"}}' % self.environment_key.encode()
        document = Document.of(b'{"version":2,"features":[', chosen, tail)
        return Payload(f"{digests.hexdigest()[:32]}:{self.revision}", document)

    def keep(self, prefix: str, payload: Payload) -> None:
        """Keep a payload that was composed, in place of the oldest one if there are many."""
        if len(self.payloads) >= _MAX_PREFIXES:
            del self.payloads[next(iter(self.payloads))]
        self.payloads[prefix] = payload


def revision_in(tag: str) -> int | None:
    """The revision that an entity tag names, if it is one of ours. It may be weak, and have its quotes."""
    number = tag.rpartition(":")[2].removesuffix('"')
    return int(number) if number.isascii() and number.isdigit() and len(number) < 20 else None
