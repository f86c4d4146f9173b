"""The loops over flags that every evaluation runs, in Python. _loops.c has the same for a C compiler."""

from bisect import bisect_right
from operator import getitem
from typing import NewType, cast

from flagstaff.evaluation.bucketing import BUCKETS, murmur3_x86_32
from flagstaff.evaluation.matches import RuleMatch

Fragment = bytes | tuple[bytes, ...]
"""A flag's part of a response, or one for each of its variants."""
Answers = dict[int, Fragment] | tuple[Fragment, ...]
"""The fragments of a flag by their places, such as recorded bytes."""
Prefixes = NewType("Prefixes", object)
"""The texts that are hashed before the identifier, one for each flag, as `prepare` returns them."""


def prepare(prefixes: tuple[bytes, ...], seed: int) -> Prefixes:
    """Prepare prefixes to be hashed with a seed. Those whose lengths modulo 4 are equal should follow each other."""
    return Prefixes((prefixes, seed))


def find_buckets(prefixes: Prefixes, identifier: bytes) -> bytes:
    """The user's bucket for each flag, 0 to 99."""
    return bytes([each % BUCKETS for each in _hashes(prefixes, identifier)])


def find_variants(prefixes: Prefixes, weights: tuple[bytes, ...], identifier: bytes) -> bytes:
    """The user's variant of each flag, by the weights of its variants: cumulated, in four bytes each (`pack`)."""
    sums = [memoryview(each).cast("I") for each in weights]
    flags = zip(sums, _hashes(prefixes, identifier), strict=True)
    return bytes([bisect_right(each, found % each[-1]) for each, found in flags])


def apply_rules(
    looked_up: tuple[RuleMatch, ...],
    holding: int,
    others: tuple[RuleMatch, ...],
    buckets: bytes,
    decided: bytearray,
    variants: bytearray,
) -> list[RuleMatch]:
    """Write the rules that decide to the bytes of the flags and the variants, and return them, one for each flag.

    The rule with the lowest rank decides, of those that match with the predicates whose bits are `holding`. The rules
    in `others` are known to match. `buckets` are the user's, by the flag's position.
    """
    first: dict[int, RuleMatch] = {}
    for match in (*(each for each in looked_up if each.needs & holding == each.needs), *others):
        inside = _inside(match, buckets)
        if inside is not None and (inside.position not in first or inside.rank < first[inside.position].rank):
            first[inside.position] = inside
    for position, match in first.items():
        decided[position] = match.byte
        if match.variant is not None:
            variants[match.slot] = match.variant
    return list(first.values())


def select_bytes(source: bytes, places: bytes) -> bytes:
    """The bytes at some places, which have four bytes each (`pack`)."""
    return bytes(map(source.__getitem__, memoryview(places).cast("I")))


def join(head: bytes, answers: tuple[Answers, ...], places: bytes, variants: bytes, *tails: bytes) -> bytes:
    """A response: the head, one fragment of each flag, by its place among the flag's fragments, and the tails.

    The fragments at a place are one, or one for each variant of the flag. Then the next of `variants` selects it.
    """
    left = iter(variants)
    found = map(getitem, answers, places)
    return b"".join((head, *(each if isinstance(each, bytes) else each[next(left)] for each in found), *tails))


def _hashes(prefixes: Prefixes, identifier: bytes) -> list[int]:
    hashed, seed = cast("tuple[tuple[bytes, ...], int]", prefixes)
    return [murmur3_x86_32(each + identifier, seed) for each in hashed]


def _inside(match: RuleMatch, buckets: bytes) -> RuleMatch | None:
    """Return the match, or the one of its rules whose share has the user's bucket, if it is in a share."""
    if match.percentage == BUCKETS:
        return match
    bucket = buckets[match.position]
    if match.by_bucket is not None:
        return match.by_bucket[bucket]
    return match if bucket < match.percentage else None
