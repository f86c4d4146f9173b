"""Counting the levels, fields and items of a body, without those inside texts."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagstaff.http.nesting import (
    CONTAINERS_MAX,
    FIELDS_MAX,
    ITEMS_MAX,
    NESTING_MAX,
    REPORT_ESCAPES_MAX,
    REPORT_ITEMS_MAX,
    require_decodable,
    require_simple,
)
from flagstaff.values.errors import Error


def nested(levels: int, inside: object) -> bytes:
    """Return JSON of lists and objects in turn, around a value."""
    opened = b"".join(b"[" if level % 2 else b'{"[\\"{":' for level in range(levels))
    closed = b"".join(b"]" if level % 2 else b"}" for level in reversed(range(levels)))
    return opened + json.dumps(inside).encode() + closed


@given(st.text(alphabet='[]{}"\\x', min_size=1))
def test_brackets_in_texts_count_for_nothing(text: str) -> None:
    require_simple(nested(NESTING_MAX, text))
    require_simple(json.dumps([text * 600, {"[" * 600: text}]).encode())
    with pytest.raises(Error):
        require_simple(nested(NESTING_MAX, [text]))


def test_brackets_beside_each_other_count_once() -> None:
    require_simple(json.dumps([[{}, []]] * 6_000).encode())
    towers = b",".join([nested(NESTING_MAX - 1, 1)] * 20)
    require_simple(b"[" + towers + b"]")
    with pytest.raises(Error):
        require_simple(b"[[" + towers + b"]]")


@pytest.mark.parametrize("damaged", [b"[" * 513, b'"' + b"[" * 600, b'["' * 600 + b"[" * 600, b"\\" * 999 + b"[" * 600])
def test_text_that_is_no_json_is_refused_or_left_to_the_decoder(damaged: bytes) -> None:
    try:
        require_simple(damaged)
    except Error:
        return
    with pytest.raises(ValueError, match=r"(?i)delimiter|unterminated|value"):
        json.loads(damaged)


@settings(max_examples=10)
@given(st.text(alphabet=':"\\x', min_size=1))
def test_colons_in_texts_are_no_fields(text: str) -> None:
    fields = {f"{text}{number}": text for number in range(FIELDS_MAX - 1)}
    require_simple(json.dumps([fields, {text: [text]}]).encode())
    with pytest.raises(Error) as refused:
        require_simple(json.dumps([fields, {text: {text: 1}}], indent=1).encode())
    assert refused.value.fields[0].message == "must not have more than 20,000 fields"


@pytest.mark.parametrize(
    ("item", "most", "message"),
    [
        ([], CONTAINERS_MAX - 1, "must not have more than 20,000 objects and lists"),
        ({}, CONTAINERS_MAX - 1, "must not have more than 20,000 objects and lists"),
        (1, ITEMS_MAX + 1, "must not have more than 60,000 fields and items of lists"),
        ('a,b[{"', ITEMS_MAX + 1, "must not have more than 60,000 fields and items of lists"),
    ],
)
def test_lists_and_items_are_counted(item: object, most: int, message: str) -> None:
    require_simple(json.dumps([item] * most).encode())
    with pytest.raises(Error) as refused:
        require_simple(json.dumps([item] * (most + 1)).encode())
    assert refused.value.fields[0].message == message


@pytest.mark.parametrize(
    ("report", "message"),
    [
        ([0] * (REPORT_ITEMS_MAX + 1), f"must not have more than {REPORT_ITEMS_MAX:,} objects, lists and their items"),
        ([[]] * REPORT_ITEMS_MAX, f"must not have more than {REPORT_ITEMS_MAX:,} objects, lists and their items"),
        (['"' * (REPORT_ESCAPES_MAX + 1)], f"must not have more than {REPORT_ESCAPES_MAX:,} backslashes"),
        ("[" * 600 + "]" * 600, "must not be nested more than 512 levels deep"),
    ],
    ids=["items", "lists", "escapes", "levels"],
)
def test_a_report_that_takes_long_to_decode_is_refused_before(report: object, message: str) -> None:
    document = report.encode() if isinstance(report, str) else json.dumps(report).encode()
    with pytest.raises(Error) as refused:
        require_decodable(document)
    assert refused.value.fields[0].message == message
