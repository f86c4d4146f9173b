"""Counts distinct users in little space: exactly while they are few, and by HyperLogLog when there are more.

A user is a hash of 32 bits. Up to `MOST_EXACT` hashes are kept as they are. More are kept in 4,096 registers: the low
12 bits of a hash say in which, and a register has the largest number seen, which is one more than the leading zeros of
the other 20 bits. All of this depends only on the set of users, so sketches may be merged in any order and repeatedly.

P. Flajolet et al., HyperLogLog: the analysis of a near-optimal cardinality estimation algorithm, 2007. The estimate
comes from O. Ertl, New cardinality estimation algorithms for HyperLogLog sketches, 2017 (algorithm 6), which needs no
correction for small or large registers, with Flajolet's correction for users who share a hash.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import repeat
from math import inf, log, log1p, sqrt
from struct import iter_unpack, pack, unpack
from uuid import UUID

from mmh3 import mmh3_32_uintdigest

REGISTERS = 4096
MOST_EXACT = 512
STANDARD_ERROR = round(1.04 / sqrt(REGISTERS), 4)  # relative

_HASHES = 1 << 32
_SEED_BYTES = 4
_REGISTER = REGISTERS - 1
_REST_BITS = 20
_LARGEST = _REST_BITS + 1  # that a register can hold
_EXACT, _DENSE = b"\0", b"\1"  # the first byte of the stored form
_DIGITS = b"0123456789abcdef"
_DIGITS_SIZE = REGISTERS // 2
_DAMAGED = "a sketch of users is damaged"
_HIGH_BITS = int.from_bytes(b"\x80" * REGISTERS, "little")
_LOW_BITS = int.from_bytes(b"\x7f" * REGISTERS, "little")


def hash_users(identifiers: Iterable[str], environment_id: UUID) -> list[int]:
    """The hashes of an environment's users. Another environment has other hashes for the same users."""
    seed = int.from_bytes(environment_id.bytes[-_SEED_BYTES:])
    return [*map(mmh3_32_uintdigest, map(str.encode, identifiers), repeat(seed))]


class Sketch:
    """A set of users: their hashes, or registers if there are more than `MOST_EXACT`."""

    __slots__ = ("hashes", "registers")

    def __init__(self, hashes: Sequence[int] = ()) -> None:
        """With some users, their hashes in order."""
        self.hashes: set[int] = set()
        self.registers: bytes | None = None
        self.add(hashes)

    @property
    def is_empty(self) -> bool:
        """True if there are no users."""
        return self.registers is None and not self.hashes

    @property
    def is_exact(self) -> bool:
        """True if the number of users is known, and not estimated."""
        return self.registers is None

    @property
    def limit(self) -> int:
        """Users whose hash is not below this change nothing: every register is as large already."""
        return _HASHES if self.registers is None else _HASHES >> _smallest(self.registers)

    def add(self, hashes: Sequence[int]) -> None:
        """Add some users, their hashes in order."""
        # The first of them usually show whether they are too many, which saves counting all.
        if self.registers is None and len(self.hashes.union(hashes[: 2 * MOST_EXACT])) <= MOST_EXACT:
            users = self.hashes.union(hashes)
            if len(users) <= MOST_EXACT:
                self.hashes = users
                return
        self._raise_to(_registers(hashes))

    def merge(self, other: "Sketch") -> None:
        """Add the users of another sketch."""
        if other.registers is None:
            self.add(sorted(other.hashes))
        else:
            self._raise_to(other.registers)

    def _raise_to(self, registers: bytes) -> None:
        mine = _registers(sorted(self.hashes)) if self.registers is None else self.registers
        self.registers, self.hashes = _larger(mine, registers), set()

    def count(self) -> int:
        """Return the number of users; unless it is known, with a standard error of `STANDARD_ERROR`."""
        return len(self.hashes) if self.registers is None else round(_estimate(self.registers))

    def encode(self) -> bytes:
        """The stored form: at most 2,050 bytes, and 3 more for each register far above the others, which are rare."""
        if self.registers is None:
            return _EXACT + pack(f"<{len(self.hashes)}I", *sorted(self.hashes))
        return _DENSE + _pack(self.registers)

    @classmethod
    def decode(cls, stored: bytes) -> "Sketch":
        """The sketch from its stored form. Raises ValueError for anything else."""
        form, content, sketch = stored[:1], stored[1:], cls()
        if form == _EXACT and len(content) % 4 == 0 and len(content) // 4 <= MOST_EXACT:
            sketch.hashes = set(unpack(f"<{len(content) // 4}I", content))
        elif form == _DENSE and len(content) > _DIGITS_SIZE and len(content) % 3 == (_DIGITS_SIZE + 1) % 3:
            sketch.registers = _unpack(content)
        else:
            raise ValueError(_DAMAGED)
        return sketch


def _registers(hashes: Sequence[int]) -> bytes:
    """The registers of some users, their hashes in order: in the opposite order of the numbers."""
    registers = bytearray(REGISTERS)
    stop = len(hashes)
    for number in range(1, _LARGEST + 1):
        start = bisect_left(hashes, _HASHES >> number) if number < _LARGEST else 0
        for each in hashes[start:stop]:
            registers[each & _REGISTER] = number
        stop = start
    return bytes(registers)


def _smallest(registers: bytes) -> int:
    return next(number for number in range(_LARGEST + 1) if number in registers)


def _larger(one: bytes, other: bytes) -> bytes:
    """The larger of each two registers. All are compared in one step, as parts of big integers."""
    a, b = int.from_bytes(one, "little"), int.from_bytes(other, "little")
    is_larger = ((a | _HIGH_BITS) - b) & _HIGH_BITS  # the high bit of each register for which a >= b
    mask = is_larger - (is_larger >> 7)
    return (a & mask | b & (mask ^ _LOW_BITS)).to_bytes(REGISTERS, "little")


def _pack(registers: bytes) -> bytes:
    """The smallest register, a hexadecimal digit for each by how much it is larger, and those for which 15 is too few.

    The latter follow with their place and number.
    """
    smallest = _smallest(registers)
    digits = registers.translate((b"0" * smallest + _DIGITS).ljust(256, _DIGITS[-1:]))
    packed, place = bytes((smallest,)) + bytes.fromhex(digits.decode()), -1
    for _ in range(digits.count(_DIGITS[-1])):
        place = digits.index(_DIGITS[-1], place + 1)
        packed += pack("<HB", place, registers[place])
    return packed


def _unpack(content: bytes) -> bytes:
    smallest, packed, high = content[0], content[1 : _DIGITS_SIZE + 1], content[_DIGITS_SIZE + 1 :]
    numbers = bytes.maketrans(_DIGITS, bytes(min(smallest + digit, _LARGEST) for digit in range(len(_DIGITS))))
    registers = bytearray(packed.hex().encode().translate(numbers))
    for place, number in iter_unpack("<HB", high):
        registers[place % REGISTERS] = min(number, _LARGEST)
    return bytes(registers)


def _estimate(registers: bytes) -> float:
    hashes = min(_estimate_hashes(registers), _HASHES - 1)
    return -_HASHES * log1p(-hashes / _HASHES)


def _estimate_hashes(registers: bytes) -> float:
    counts = [registers.count(number) for number in range(_LARGEST + 1)]
    total = REGISTERS * _tau(1 - counts[_LARGEST] / REGISTERS)
    for number in range(_REST_BITS, 0, -1):
        total = (total + counts[number]) / 2
    total += REGISTERS * _sigma(counts[0] / REGISTERS)
    return REGISTERS**2 / (2 * log(2) * total) if total else inf


def _sigma(x: float) -> float:
    if x == 1:
        return inf
    y, before, total = 1.0, -1.0, x
    while total != before:
        x, before = x * x, total
        total += x * y
        y += y
    return total


def _tau(x: float) -> float:
    if x in (0, 1):
        return 0
    y, before, total = 1.0, -1.0, 1 - x
    while total != before:
        x, before, y = sqrt(x), total, y / 2
        total -= (1 - x) ** 2 * y
    return total / 3
