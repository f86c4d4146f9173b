"""Snapshots: one environment's flags, compiled for evaluation. Immutable; a change makes a new one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from flagstaff.evaluation.history.layout import Layout


class RuleMatch(NamedTuple):
    """A rule found by a look-up.

    It holds its flag's place among the recorded flags, its rank there (lower goes first), and the byte that records it.
    """

    position: int
    rank: int
    byte: int


@dataclass(frozen=True, slots=True, eq=False)
class EnvironmentSnapshot:
    """One environment, compiled. Each flag's JSON fragment ends with a comma, but for the last of the answer.

    The recorded flags are the rollouts (in `rollout_prefixes` and `rollout_answers`, by bucket) followed by the flags
    that have rules and no rollout.
    """

    project_id: UUID
    environment_id: UUID
    environment_key: str
    layout: Layout
    rollout_prefixes: tuple[bytes, ...]  # b"flag-key:"
    rollout_answers: tuple[tuple[bytes, ...], ...]  # per rollout: 101 fragments, by bucket; the last for none
    without_bucket: bytes  # what is recorded of the rollouts for a user without an identifier
    ruled_defaults: tuple[bytes, ...]  # per flag with rules and no rollout: its fragment when no rule matches
    ruled_recorded: bytes
    rule_answers: tuple[Mapping[int, bytes], ...]  # per recorded flag: fragment by recorded byte
    by_user_id: Mapping[str, tuple[RuleMatch, ...]]
    by_email: Mapping[str, tuple[RuleMatch, ...]]
    by_domain: Mapping[str, tuple[RuleMatch, ...]]
    constant_tail: bytes  # the constant flags' fragments and the closing braces
    default_tail: bytes  # ruled_defaults and constant_tail in one


@dataclass(frozen=True, slots=True, eq=False)
class ProjectSnapshot:
    """A project as the runtime knows it: its environments by key."""

    project_id: UUID
    sdk_key: str
    environments: Mapping[str, EnvironmentSnapshot]
