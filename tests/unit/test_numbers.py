"""Numbers as texts: the same number always has the same digits, which read back as the same number."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstaff.values.numbers import number_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (0.1, "0.1"),
        (-0.0, "0"),
        (100.0, "100"),
        (1e-7, "0.0000001"),
        (1e21, "1000000000000000000000"),
        (-2.50, "-2.5"),
        (0.1 + 0.2, "0.30000000000000004"),
    ],
)
def test_a_number_has_its_usual_digits(value: float, text: str) -> None:
    assert number_text(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_number_reads_back_and_has_no_exponent(value: float) -> None:
    text = number_text(value)
    assert float(text) == value
    assert re.fullmatch(r"-?\d+(\.\d*[1-9])?", text)
