"""Deltas: what the audit trail stores of a change, if it already has the resource's state before the change."""

import json
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

import msgspec

State = dict[str, Any]

KEPT = frozenset({"enabled", "owner", "tags", "rollout_percentage", "rule_type", "is_late", "lost_authority"})
"""The fields that a delta has even if they did not change: statements and guards read them without the whole state."""
_DIGEST_BYTES = 8


class EncodedState:
    """A state with each of its fields as JSON. Values that Python takes as equal, such as 1 and true, differ in it."""

    __slots__ = ("fields", "size", "state")

    def __init__(self, state: State) -> None:
        self.state = state
        self.fields = {name: msgspec.json.encode(value) for name, value in state.items()}
        self.size = sum(map(len, self.fields.values()))

    def length(self, names: Iterable[str]) -> int:
        """The length of some fields."""
        return sum(len(self.fields[name]) for name in names)

    def stored_bytes(self, names: Iterable[str]) -> int:
        """The length of some fields as the database has them: with escapes."""
        encoded = [(name, self.fields[name]) for name in names]
        lengths = (len(value) if value.isascii() else len(json.dumps(self.state[name])) for name, value in encoded)
        return sum(len(name) + 6 for name, _ in encoded) + sum(lengths)

    def digest(self, key: bytes) -> int:
        """A number by which equal states are recognised. Without the key, it does not tell what was in the state."""
        content = b"\n".join((*map(str.encode, self.fields), *self.fields.values()))  # no JSON has a line break
        return int.from_bytes(blake2b(content, digest_size=_DIGEST_BYTES, key=key).digest(), signed=True)


def difference(before: EncodedState, after: EncodedState) -> tuple[State, State] | None:
    """The fields that differ, before and after, with those that are kept; None if the states have different fields."""
    if before.fields.keys() != after.fields.keys():
        return None
    names = [name for name, value in after.fields.items() if name in KEPT or before.fields[name] != value]
    return {name: before.state[name] for name in names}, {name: after.state[name] for name in names}


def apply(state: State, delta: State) -> State:
    """The state after a change, of which the delta has the fields that differ."""
    return {**state, **delta}
