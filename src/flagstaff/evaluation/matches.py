"""Rules that match in an evaluation."""

from collections.abc import Mapping
from typing import NamedTuple

from flagstaff.evaluation.bucketing import BUCKETS


class RuleMatch(NamedTuple):
    """A rule found by a look-up. _loops.c reads the fields by their order.

    `position` is its flag's position among the recorded flags. `rank` is the rule's rank in the flag; the lowest rank
    decides. `byte` is recorded if it does. The rule matches only if the predicates with the bits `needs` hold, besides
    the one by which it was found, and the user's bucket is below `percentage`. It gives the `variant`, if that is not
    None, to its flag, whose place among the varied flags is `slot`.

    Several rules of a flag for shares of the users with the same value are found as one, because a user is in the same
    bucket for all of them: `by_bucket` has the one that matches first in each bucket, if one does.
    """

    position: int
    rank: int
    byte: int
    needs: int = 0
    percentage: int = BUCKETS
    variant: int | None = None
    slot: int = 0
    by_bucket: "tuple[RuleMatch | None, ...] | None" = None


class PredicateMatches(NamedTuple):
    """The matches that follow from the predicates that hold, whose bits are `holding`.

    `matches` are the rules that are found by them, and `varying` the rules of flags that depend on more. If no other
    rules are found, the steady flags depend on nothing else: `steady` has the rule that decides each, `decided` their
    bytes, and `fragments` their part of the response.
    """

    holding: int
    matches: tuple[RuleMatch, ...]
    varying: tuple[RuleMatch, ...]
    steady: Mapping[int, RuleMatch]
    decided: bytes
    fragments: bytes
