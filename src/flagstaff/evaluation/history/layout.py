"""Encodes an evaluation in a few bytes, and decodes it.

A layout is what all evaluations of one snapshot have in common: its flags, and the result of each when it does not
depend on the user. In addition, an evaluation has one byte for each flag whose result depends on the user:

    0-99  the user's bucket in the flag's rollout; no rule matched
    100   no rule matched, and there is no bucket: the flag has no rollout, or the user no identifier
    101 + the matched rule's outcome: 102 user_id, 103 user_email, 104 email_domain

A layout has the lowest version that can hold it, so that earlier releases can read it: version 1 knows the outcomes up
to `ON`, version 2 also `NO_RULE`.
"""

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from uuid import UUID

from flagstaff.evaluation.outcomes import Outcome

NO_BUCKET = 100
RULE_BASE = 101
_NEWEST_VERSION = 2
_OUTCOMES_BY_VERSION = {1: Outcome.ON + 1, 2: Outcome.NO_RULE + 1}


@dataclass(frozen=True, slots=True)
class LayoutFlag:
    """A flag in a layout; `default` is its outcome without a matching rule or a bucket."""

    id: UUID
    key: str
    rollout_percentage: int
    default: Outcome

    def outcome(self, byte: int) -> Outcome:
        """The outcome that a recorded byte stands for."""
        if byte > RULE_BASE:
            return Outcome(byte - RULE_BASE)
        if byte == NO_BUCKET:
            return self.default
        return Outcome.IN_ROLLOUT if byte < self.rollout_percentage else Outcome.NOT_IN_ROLLOUT


@dataclass(frozen=True)
class Layout:
    """The flags of one snapshot: first those with a byte in each evaluation, in the bytes' order, then the others."""

    recorded: tuple[LayoutFlag, ...]
    constant: tuple[LayoutFlag, ...]

    @cached_property
    def version(self) -> int:
        """The version of its stored form."""
        flags = (*self.recorded, *self.constant)
        return 1 if all(flag.default < _OUTCOMES_BY_VERSION[1] for flag in flags) else _NEWEST_VERSION

    @property
    def outcome_count(self) -> int:
        """How many outcomes a layout of this version has: those whose numbers are lower."""
        return _OUTCOMES_BY_VERSION[self.version]

    @cached_property
    def digest(self) -> bytes:
        """Sixteen bytes that identify the layout by its content: equal layouts of one environment are stored once."""
        state = sha256()
        for mark, flags in ((b"r", self.recorded), (b"c", self.constant)):
            for flag in flags:
                state.update(mark + flag.id.bytes + bytes((flag.rollout_percentage, flag.default)) + flag.key.encode())
                state.update(b"\n")
        return state.digest()[:16]

    def outcomes(self, recorded: bytes) -> list[tuple[LayoutFlag, Outcome]]:
        """Every flag with its outcome in one evaluation, given that evaluation's bytes."""
        varied = [(flag, flag.outcome(byte)) for flag, byte in zip(self.recorded, recorded, strict=True)]
        return varied + [(flag, flag.default) for flag in self.constant]
