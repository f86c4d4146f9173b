"""How deeply a body is nested is counted outside of texts, and exactly."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstaff.http.nesting import NESTING_MAX, require_shallow
from flagstaff.values.errors import Error


def nested(levels: int, inside: object) -> bytes:
    """JSON of lists and objects in turn, around a value."""
    opened = b"".join(b"[" if level % 2 else b'{"[\\"{":' for level in range(levels))
    closed = b"".join(b"]" if level % 2 else b"}" for level in reversed(range(levels)))
    return opened + json.dumps(inside).encode() + closed


@given(st.text(alphabet='[]{}"\\x', min_size=1))
def test_brackets_in_texts_count_for_nothing(text: str) -> None:
    require_shallow(nested(NESTING_MAX, text))
    require_shallow(json.dumps([text * 600, {"[" * 600: text}]).encode())
    with pytest.raises(Error):
        require_shallow(nested(NESTING_MAX, [text]))


def test_brackets_beside_each_other_count_once() -> None:
    require_shallow(json.dumps([[{}, []]] * 10_000).encode())
    towers = b",".join([nested(NESTING_MAX - 1, 1)] * 20)
    require_shallow(b"[" + towers + b"]")
    with pytest.raises(Error):
        require_shallow(b"[[" + towers + b"]]")


@pytest.mark.parametrize("damaged", [b"[" * 513, b'"' + b"[" * 600, b'["' * 600 + b"[" * 600, b"\\" * 999 + b"[" * 600])
def test_text_that_is_no_json_is_refused_or_left_to_the_decoder(damaged: bytes) -> None:
    try:
        require_shallow(damaged)
    except Error:
        return
    with pytest.raises(ValueError, match=r"(?i)delimiter|unterminated|value"):
        json.loads(damaged)
