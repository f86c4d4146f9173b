"""Explains how flags are decided for a user, and what comes of each prerequisite, rule and condition.

deciding.py has them decided; tracing.py looks at what was compiled beside it. Both are done in small steps, some flags
at a time, between which the caller may do other work.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress

from flagstaff.evaluation.explanations import deciding
from flagstaff.evaluation.explanations.deciding import needs_of, portions, prepare
from flagstaff.evaluation.explanations.flag_sets import FlagSet
from flagstaff.evaluation.explanations.traces import FlagTrace, RuleTrace
from flagstaff.evaluation.explanations.tracing import Subject, Tracer
from flagstaff.flags.prerequisites import with_needed
from flagstaff.values.lists import emptying

Traces = Generator[FlagTrace | RuleTrace | None]


class _StoppedError(Exception):
    """Nobody needs the traces that are still to come."""


def explain(flag_set: FlagSet, subject: Subject, keys: Sequence[str]) -> Traces:
    """Explain the flags with these keys in this order: each flag's trace, followed by those of its rules.

    None stands for a step on the way to the next trace. The caller calls `free`, even if it stops before the end.
    """
    tracer = Tracer(flag_set.environment.key, subject, flag_set.segments)
    needs = yield from needs_of(flag_set)
    for some in portions(flag_set, keys):
        known = [key for key in (yield from with_needed(needs, some)) if key in flag_set.flags]
        decider = yield from prepare(flag_set, known)
        decided = {}
        for each in (yield from decider.decide(subject, known)):
            decided[each.targeted.flag.key] = each
            yield None
        is_stopped = False
        try:
            for key in some:
                yield tracer.trace_flag(key, decided)
                yield from tracer.trace_rules(decided[key])
        except _StoppedError:
            is_stopped = True
        yield from emptying(decided)
        yield from decider.free()
        if is_stopped:
            break
    yield from emptying(needs)


def free(flag_set: FlagSet, traces: Traces) -> Iterator[None]:
    """Stop explaining, and free the flags and what they were compiled to step by step."""
    with suppress(_StoppedError):  # raised again if it has come to its end
        traces.throw(_StoppedError)
        for _ in traces:
            yield
    yield from deciding.free(flag_set)
