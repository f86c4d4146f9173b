"""Explains how flags are decided for a user, and what comes of each prerequisite, rule and condition.

deciding.py has them decided, some flags at a time; tracing.py looks at what was compiled beside it.
"""

from collections.abc import Iterator, Sequence

from flagstaff.evaluation.explanations.deciding import needs_of, portions, prepare
from flagstaff.evaluation.explanations.flag_sets import FlagSet
from flagstaff.evaluation.explanations.traces import FlagTrace, RuleTrace
from flagstaff.evaluation.explanations.tracing import Subject, Tracer
from flagstaff.flags.prerequisites import with_needed
from flagstaff.values.lists import empty


def explain(flag_set: FlagSet, subject: Subject, keys: Sequence[str]) -> Iterator[FlagTrace | RuleTrace]:
    """Explain the flags with these keys in this order: each flag's trace, followed by its rules' traces.

    The flags are used up.
    """
    tracer = Tracer(flag_set.environment.key, subject, flag_set.segments)
    needs = needs_of(flag_set)
    try:
        for some in portions(flag_set, keys):
            known = [key for key in with_needed(needs, some) if key in flag_set.flags]
            decider = prepare(flag_set, known)
            decided = {each.targeted.flag.key: each for each in decider.decide(subject, known)}
            for key in some:
                yield tracer.trace_flag(key, decided)
                yield from tracer.trace_rules(decided[key])
            decider.free()
    finally:
        empty(needs, flag_set.flags)
