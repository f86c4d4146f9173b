"""Explains how flags are decided for a user, and what comes of each prerequisite, rule and condition.

The kernel decides, with a snapshot of the flags; tracing.py looks at what was compiled beside it. Both are done in
small steps, some flags at a time, between which the caller may do other work.
"""

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from flagstaff.domain.prerequisites import with_needed
from flagstaff.domain.projects import Environment
from flagstaff.domain.segments import Segment
from flagstaff.evaluation.assembly import assemble
from flagstaff.evaluation.compiler import TargetedFlag, compile_flag
from flagstaff.evaluation.parts import all_flags, decide_part
from flagstaff.evaluation.predicates import Predicate, compile_predicate
from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.evaluation.traces import FlagTrace, RuleTrace
from flagstaff.evaluation.tracing import CompiledSegment, DecidedFlag, Subject, Tracer

# Deciding these takes about a millisecond, and so does freeing what they were compiled to.
_FLAGS_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class FlagSet:
    """Flags of an environment with all that they need, and the segments that their rules name, by key."""

    environment: Environment
    flags: dict[str, TargetedFlag]
    segments: Mapping[str, CompiledSegment]


def compile_segments(segments: Iterable[Segment]) -> Generator[None, None, dict[str, CompiledSegment]]:
    """Segments by key, with their conditions as a predicate."""
    compiled = {}
    for segment in segments:
        compiled[segment.key] = CompiledSegment(segment, compile_predicate(segment.conditions))
        yield
    return compiled


def find_attributes(flag_set: FlagSet) -> Generator[None, None, Collection[str]]:
    """The attributes of the context that an evaluation of these flags looks at."""
    compiled = []
    for each in flag_set.flags.values():
        compiled.append(compile_flag(each))
        yield
    snapshot = yield from assemble(flag_set.environment, compiled, _predicates(flag_set))
    return snapshot.targeting.attributes if snapshot.targeting is not None else ()


def explain(flag_set: FlagSet, subject: Subject, keys: Sequence[str]) -> Iterator[FlagTrace | RuleTrace | None]:
    """Explain the flags with these keys in this order: each flag's trace, followed by those of its rules.

    None stands for a step on the way to the next trace. The flags are used up.
    """
    tracer = Tracer(flag_set.environment.key, subject, flag_set.segments)
    flags = flag_set.flags
    needs = {key: [each.flag_key for each in targeted.flag.prerequisites] for key, targeted in flags.items()}
    for start in range(0, len(keys), _FLAGS_AT_ONCE):
        some = keys[start : start + _FLAGS_AT_ONCE]
        needed = [flags[key] for key in with_needed(needs, some) if key in flags]
        decided = yield from _decide(flag_set, needed, subject)
        for key in some:
            yield tracer.trace_flag(key, decided)
            yield from tracer.trace_rules(decided[key])
    while flags:  # emptied step by step, because freeing thousands of flags at once takes milliseconds
        flags.popitem()
        yield None


def _decide(
    flag_set: FlagSet, flags: Iterable[TargetedFlag], subject: Subject
) -> Generator[None, None, dict[str, DecidedFlag]]:
    """Compile flags apart from all others, and decide them."""
    compiled = {}
    for each in flags:
        compiled[each.flag.key] = (each, compile_flag(each))
        yield
    snapshot: EnvironmentSnapshot = yield from assemble(
        flag_set.environment, [flag for _, flag in compiled.values()], _predicates(flag_set)
    )
    decisions = decide_part(snapshot, all_flags(snapshot), subject.user_id, subject.user_email, subject.attributes)
    yield
    decided = {}
    for position, decision in enumerate(snapshot.layout.decisions(decisions.recorded)):
        match = decisions.rules.get(position)
        key = decision.flag.key
        decided[key] = DecidedFlag(*compiled[key], decision, None if match is None else match.rank)
    return decided


def _predicates(flag_set: FlagSet) -> dict[str, Predicate]:
    return {key: segment.predicate for key, segment in flag_set.segments.items()}
