"""Decides flags that are compiled apart from the snapshots that are served. The kernel decides, as in an evaluation."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from flagstaff.evaluation.compiler import CompiledFlag
from flagstaff.evaluation.explanations.flag_sets import FlagSet, compile_flags
from flagstaff.evaluation.explanations.tracing import DecidedFlag, Subject
from flagstaff.evaluation.history.layout import Decision
from flagstaff.evaluation.matches import RuleMatch
from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.evaluation.subset import all_flags, decide_part
from flagstaff.evaluation.targeting import Decisions
from flagstaff.values.lists import empty

# Deciding these takes about a millisecond, and so does freeing what they were compiled to.
_FLAGS_AT_ONCE, _RULES_AT_ONCE = 100, 500


class Decider:
    """Some flags of a set, compiled to a snapshot of these alone."""

    def __init__(self, flag_set: FlagSet, compiled: dict[str, CompiledFlag], snapshot: EnvironmentSnapshot) -> None:
        self._flags = flag_set.flags
        self._compiled = compiled
        self._snapshot = snapshot
        self._part = all_flags(snapshot)
        self._positions = {flag.key: position for position, flag in enumerate(snapshot.layout.recorded)}
        self._constant = {flag.key: Decision(flag, flag.default) for flag in snapshot.layout.constant}

    @property
    def attributes(self) -> Collection[str]:
        """The attributes of the context that these flags look at."""
        targeting = self._snapshot.targeting
        return targeting.attributes if targeting is not None else ()

    def decide(self, subject: Subject, keys: Collection[str]) -> Iterator[DecidedFlag]:
        """Decide the flags with these keys for a user."""
        decisions = decide_part(self._snapshot, self._part, subject.user_id, subject.user_email, subject.attributes)
        rules = decisions.rules()
        return (self._decided(key, decisions, rules) for key in keys)

    def free(self) -> None:
        """Free what the flags were compiled to, one by one. Nothing is decided afterwards."""
        del self._snapshot, self._part  # which keep most of it
        empty(self._positions, self._constant, self._compiled)

    def _decided(self, key: str, decisions: Decisions, rules: Mapping[int, RuleMatch]) -> DecidedFlag:
        position = self._positions.get(key)
        if position is None:
            return DecidedFlag(self._flags[key], self._compiled[key], self._constant[key], None)
        decision, match = self._snapshot.layout.decision_of(position, decisions.recorded), rules.get(position)
        return DecidedFlag(self._flags[key], self._compiled[key], decision, None if match is None else match.rank)


def prepare(flag_set: FlagSet, keys: Iterable[str]) -> Decider:
    """Compile the flags of a set that have these keys, among which are all that they need."""
    flags = flag_set.flags
    compiled = compile_flags(flags[key] for key in keys if key in flags)
    return Decider(flag_set, compiled, flag_set.assemble(compiled.values()))


def portions(flag_set: FlagSet, keys: Iterable[str]) -> Iterator[Sequence[str]]:
    """The keys of flags of the set in portions, each of which is decided together."""
    portion: list[str] = []
    its_rules = 0
    for key in keys:
        more = len(flag_set.flags[key].rules)
        if portion and (len(portion) == _FLAGS_AT_ONCE or its_rules + more > _RULES_AT_ONCE):
            yield portion
            portion, its_rules = [], 0
        portion.append(key)
        its_rules += more
    if portion:
        yield portion


def needs_of(flag_set: FlagSet) -> dict[str, list[str]]:
    """The flags of a set, each with those that it needs directly, by key."""
    return {key: [each.flag_key for each in one.flag.prerequisites] for key, one in flag_set.flags.items()}
