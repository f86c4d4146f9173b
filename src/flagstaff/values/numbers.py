"""Numbers as texts for other programs."""

from decimal import Decimal


def number_text(value: float) -> str:
    """A finite number in decimal digits, without an exponent or needless zeros: 1.0 is `1`, and 1e-7 is `0.0000001`.

    The digits are the fewest that read back as the same number.
    """
    return format(Decimal(repr(value + 0.0)).normalize(), "f")  # the sum with 0 has no negative zero
