"""Sets of flags that are compiled apart from the snapshots that are served, to explain or to compare them.

All of it is done in small steps, between which the caller may do other work.
"""

from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass

from flagstaff.conditions.predicates import Predicate, compiling_predicate
from flagstaff.evaluation.compiler import CompiledFlag, TargetedFlag, compiling_flag
from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.evaluation.snapshot_assembly import assemble
from flagstaff.flags.targeting.segments import Segment
from flagstaff.projects.projects import Environment


@dataclass(frozen=True, slots=True)
class CompiledSegment:
    """A segment, and the predicate that its conditions were compiled to."""

    segment: Segment
    predicate: Predicate


@dataclass(frozen=True, slots=True)
class FlagSet:
    """Flags of an environment with all that they need, and the segments that their rules name, by key."""

    environment: Environment
    flags: dict[str, TargetedFlag]
    segments: Mapping[str, CompiledSegment]

    def compile(self) -> Generator[None, None, EnvironmentSnapshot]:
        """A snapshot of all flags."""
        compiled = yield from compile_flags(self.flags.values())
        snapshot = yield from self.assemble(compiled.values())
        return snapshot

    def assemble(self, flags: Iterable[CompiledFlag]) -> Generator[None, None, EnvironmentSnapshot]:
        """A snapshot of some of the flags, which are compiled already."""
        predicates = {key: segment.predicate for key, segment in self.segments.items()}
        snapshot = yield from assemble(self.environment, flags, predicates)
        return snapshot


def compile_flags(flags: Iterable[TargetedFlag]) -> Generator[None, None, dict[str, CompiledFlag]]:
    """Compile flags; returns them by key."""
    compiled = {}
    for each in flags:
        compiled[each.flag.key] = yield from compiling_flag(each)
        yield
    return compiled


def compile_segments(segments: Iterable[Segment]) -> Generator[None, None, dict[str, CompiledSegment]]:
    """Compile segments; returns them by key."""
    compiled = {}
    for segment in segments:
        predicate = yield from compiling_predicate(segment.conditions)
        compiled[segment.key] = CompiledSegment(segment, predicate)
        yield
    return compiled
