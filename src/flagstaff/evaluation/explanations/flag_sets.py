"""Sets of flags that are compiled apart from the snapshots that are served, to explain or to compare them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from flagstaff.conditions.predicates import Predicate, compile_predicate
from flagstaff.evaluation.compiler import CompiledFlag, TargetedFlag, compile_flag
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

    def compile(self) -> EnvironmentSnapshot:
        """A snapshot of all flags."""
        return self.assemble(compile_flags(self.flags.values()).values())

    def assemble(self, flags: Iterable[CompiledFlag]) -> EnvironmentSnapshot:
        """A snapshot of some of the flags, which are compiled already."""
        predicates = {key: segment.predicate for key, segment in self.segments.items()}
        return assemble(self.environment, flags, predicates)


def compile_flags(flags: Iterable[TargetedFlag]) -> dict[str, CompiledFlag]:
    """Compile flags; returns them by key."""
    return {each.flag.key: compile_flag(each) for each in flags}


def compile_segments(segments: Iterable[Segment]) -> dict[str, CompiledSegment]:
    """Compile segments; returns them by key."""
    return {each.key: CompiledSegment(each, compile_predicate(each.conditions)) for each in segments}
