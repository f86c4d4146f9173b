"""The loops over flags that every evaluation runs, in Python. _loops.c has the same for a C compiler."""

from collections.abc import Sequence
from operator import getitem

from flagstaff.evaluation.bucketing import BUCKETS, VARIANT_SEED, murmur3_x86_32


def find_buckets(prefixes: Sequence[bytes], identifier: bytes) -> bytes:
    """The user's bucket for each flag, 0 to 99; the prefix of each is hashed before the identifier."""
    return bytes([murmur3_x86_32(prefix + identifier) % BUCKETS for prefix in prefixes])


def find_variants(prefixes: Sequence[bytes], tables: Sequence[bytes], identifier: bytes) -> bytes:
    """The user's variant of each flag; each table has the variant of each place among a flag's weights."""
    flags = zip(prefixes, tables, strict=True)
    return bytes([table[murmur3_x86_32(prefix + identifier, VARIANT_SEED) % len(table)] for prefix, table in flags])


def join(head: bytes, answers: Sequence[tuple[bytes, ...]], places: bytes, *tails: bytes) -> bytes:
    """A response: the head, one fragment of each flag, by its place among the flag's fragments, and the tails."""
    return b"".join((head, *map(getitem, answers, places), *tails))
