"""Lone surrogates in bodies, compared with Python's own parser."""

import json

from hypothesis import given
from hypothesis import strategies as st

from flagstaff.serving.context import without_lone_surrogates

pieces = st.sampled_from([r"\ud83d", r"\uDE00", r"\udbff", r"\uDC00", r"\u0041", r"\\", r"\"", r"\n", "u", "d83d", "ü"])


@given(st.lists(pieces, max_size=10).map("".join))
def test_exactly_the_halves_are_replaced(text: str) -> None:
    body = f'"{text}"'.encode()
    read = json.loads(body)
    halves = [character for character in read if "\ud800" <= character <= "\udfff"]
    repaired = without_lone_surrogates(body)
    assert (repaired is not None) is bool(halves)
    if repaired is not None:
        shown = json.loads(repaired.decode(errors="replace"))
        assert shown == "".join("\ufffd" if character in halves else character for character in read)


def test_a_body_that_is_not_json_stays_so() -> None:
    assert without_lone_surrogates(b'{"x":"\xfe\xfe","y":"\\ud83d"}') is None
    assert without_lone_surrogates(b"\\ud83d") == b"\xff"


def test_they_are_not_looked_for_among_more_than_two_thousand_escapes() -> None:
    assert without_lone_surrogates(rb"\ude00" * 2000) == b"\xff" * 2000
    assert without_lone_surrogates(rb"\ud83d\ude00" * 1000 + rb"\ud83d") is None
