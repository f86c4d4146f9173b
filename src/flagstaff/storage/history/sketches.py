"""Counts distinct users in little space: exactly while they are few, and by HyperLogLog when there are more.

A user becomes a coupon: 26 bits of a hash, the address, and in the 6 bits above, by one more, how many leading zeros
the rest of the hash has. Up to `MOST_EXACT` coupons are kept as they are. More are kept in 4,096 registers: the lowest
12 bits of an address say in which, and a register has the largest number seen. All of this depends only on the set of
users, so that sketches may be merged in any order and more than once.

P. Flajolet et al., HyperLogLog: the analysis of a near-optimal cardinality estimation algorithm, 2007. The estimate is
that of O. Ertl, New cardinality estimation algorithms for HyperLogLog sketches, 2017 (algorithm 6), which needs no
correction for small or large numbers.
"""

from bisect import bisect_left
from collections.abc import Sequence
from math import inf, log, sqrt
from struct import iter_unpack, pack, unpack

from mmh3 import mmh3_x64_128_digest

REGISTERS = 4096
MOST_EXACT = 512
STANDARD_ERROR = round(1.04 / sqrt(REGISTERS), 4)  # relative

_ADDRESS_BITS = 26
_ADDRESSES = 1 << _ADDRESS_BITS
_REST_BITS = 38
_HASH_BYTES = (_ADDRESS_BITS + _REST_BITS) // 8
_LARGEST = _REST_BITS + 1  # that a register can hold
_EXACT, _DENSE = b"\0", b"\1"  # the first byte of the stored form
_DIGITS_SIZE = REGISTERS // 2
_DAMAGED = "a sketch of users is damaged"
_DIGITS = b"0123456789abcdef"
_HIGH_BITS = int.from_bytes(b"\x80" * REGISTERS, "little")
_LOW_BITS = int.from_bytes(b"\x7f" * REGISTERS, "little")


def coupon(salt: bytes, user: str) -> int:
    """The coupon of a user: 32 bits, never 0. With another salt, the same user has another one."""
    number = int.from_bytes(mmh3_x64_128_digest(salt + user.encode())[:_HASH_BYTES], "little")
    rest, address = divmod(number, _ADDRESSES)
    return (_LARGEST - rest.bit_length()) * _ADDRESSES | address


class Sketch:
    """A set of users: their coupons, or registers if there are more than `MOST_EXACT`."""

    __slots__ = ("coupons", "registers")

    def __init__(self, coupons: Sequence[int] = ()) -> None:
        """With the users of some coupons, in their order."""
        self.coupons: set[int] = set()
        self.registers: bytes | None = None
        self.add(coupons)

    @property
    def is_exact(self) -> bool:
        """Whether the number of users is known, and not estimated."""
        return self.registers is None

    def add(self, coupons: Sequence[int]) -> None:
        """Add the users of some coupons, in their order."""
        if self.registers is not None:
            self.registers = _with(self.registers, coupons)
            return
        self.coupons.update(coupons)
        if len(self.coupons) > MOST_EXACT:
            self.registers, self.coupons = _with(bytes(REGISTERS), sorted(self.coupons)), set()

    def merge(self, other: "Sketch") -> None:
        """Add the users of another sketch."""
        if other.registers is None:
            self.add(sorted(other.coupons))
        else:
            mine = self.registers or _with(bytes(REGISTERS), sorted(self.coupons))
            self.registers, self.coupons = _larger(mine, other.registers), set()

    def count(self) -> int:
        """How many users there are; unless the number is known, with a standard error of `STANDARD_ERROR`."""
        return len(self.coupons) if self.registers is None else round(_estimate(self.registers))

    def encode(self) -> bytes:
        """The stored form: at most 2,050 bytes, and 3 more for each register far above the others, which are rare."""
        if self.registers is None:
            return _EXACT + pack(f"<{len(self.coupons)}I", *sorted(self.coupons))
        return _DENSE + _pack(self.registers)

    @classmethod
    def decode(cls, stored: bytes) -> "Sketch":
        """The sketch from its stored form. Raises ValueError for anything else."""
        form, content, sketch = stored[:1], stored[1:], cls()
        if form == _EXACT and len(content) % 4 == 0 and len(content) // 4 <= MOST_EXACT:
            sketch.coupons = set(unpack(f"<{len(content) // 4}I", content))
        elif form == _DENSE and len(content) > _DIGITS_SIZE and len(content) % 3 == (_DIGITS_SIZE + 1) % 3:
            sketch.registers = _unpack(content)
        else:
            raise ValueError(_DAMAGED)
        return sketch


def _with(registers: bytes, coupons: Sequence[int]) -> bytes:
    """The registers with the users of some coupons, in their order."""
    changed = bytearray(registers)
    # No register changes by a number that all of them have reached.
    for each in coupons[bisect_left(coupons, (_smallest(registers) + 1) << _ADDRESS_BITS) :]:
        number = each >> _ADDRESS_BITS
        if number > changed[each % REGISTERS]:  # noqa: PLR1730 - faster than max
            changed[each % REGISTERS] = number
    return bytes(changed)


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
    numbers = bytes.maketrans(_DIGITS, bytes(range(smallest, smallest + len(_DIGITS))))
    registers = bytearray(packed.hex().encode().translate(numbers))
    for place, number in iter_unpack("<HB", high):
        registers[place % REGISTERS] = number
    if max(registers) > _LARGEST:
        raise ValueError(_DAMAGED)
    return bytes(registers)


def _estimate(registers: bytes) -> float:
    counts = [registers.count(number) for number in range(_LARGEST + 1)]
    total = REGISTERS * _tau(1 - counts[_LARGEST] / REGISTERS)
    for number in range(_REST_BITS, 0, -1):
        total = (total + counts[number]) / 2
    total += REGISTERS * _sigma(counts[0] / REGISTERS)
    return REGISTERS**2 / (2 * log(2) * total)


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
