"""Explains how flags are decided for a user, and what comes of each prerequisite, rule and condition.

The kernel decides, with a snapshot of the flags; tracing.py looks at what was compiled beside it. Both are done in
small steps, some flags at a time, between which the caller may do other work.
"""

from collections.abc import Generator, Iterator, Sequence

from flagstaff.domain.prerequisites import with_needed
from flagstaff.evaluation.flag_sets import FlagSet, compile_flags
from flagstaff.evaluation.parts import all_flags, decide_part
from flagstaff.evaluation.traces import FlagTrace, RuleTrace
from flagstaff.evaluation.tracing import DecidedFlag, Subject, Tracer

# Deciding these takes about a millisecond, and so does freeing what they were compiled to.
_FLAGS_AT_ONCE = 100


def explain(flag_set: FlagSet, subject: Subject, keys: Sequence[str]) -> Iterator[FlagTrace | RuleTrace | None]:
    """Explain the flags with these keys in this order: each flag's trace, followed by those of its rules.

    None stands for a step on the way to the next trace. The flags are used up.
    """
    tracer = Tracer(flag_set.environment.key, subject, flag_set.segments)
    flags = flag_set.flags
    needs = {key: [each.flag_key for each in targeted.flag.prerequisites] for key, targeted in flags.items()}
    for start in range(0, len(keys), _FLAGS_AT_ONCE):
        some = keys[start : start + _FLAGS_AT_ONCE]
        decided = yield from _decide(flag_set, with_needed(needs, some), subject)
        for key in some:
            yield tracer.trace_flag(key, decided)
            yield from tracer.trace_rules(decided[key])
    while flags:  # emptied step by step, because freeing thousands of flags at once takes milliseconds
        flags.popitem()
        yield None


def _decide(flag_set: FlagSet, keys: Sequence[str], subject: Subject) -> Generator[None, None, dict[str, DecidedFlag]]:
    """Decide flags by key, with a snapshot of these alone."""
    flags = flag_set.flags
    compiled = yield from compile_flags(flags[key] for key in keys if key in flags)
    snapshot = yield from flag_set.assemble(compiled.values())
    decisions = decide_part(snapshot, all_flags(snapshot), subject.user_id, subject.user_email, subject.attributes)
    yield
    decided = {}
    for position, decision in enumerate(snapshot.layout.decisions(decisions.recorded)):
        key, match = decision.flag.key, decisions.rule_of(position)
        decided[key] = DecidedFlag(flags[key], compiled[key], decision, None if match is None else match.rank)
    return decided
