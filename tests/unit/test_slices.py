"""Long JSON is cut into parts whose items are together those of the whole."""

import json
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstaff.http.slices import slices
from flagstaff.values.errors import Error

TEXTS = st.text(alphabet='a"\\{}[],: é', max_size=8)
VALUES = st.recursive(
    st.none() | st.integers() | TEXTS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=6
)


@given(st.lists(VALUES, max_size=6), st.sampled_from([1, 3_000]), st.booleans())
def test_the_parts_of_a_list_have_its_items(items: list[Any], times: int, spaced: bool) -> None:
    whole = items * times
    document = json.dumps(whole, separators=(" ,  ", ": ") if spaced else (",", ":")).encode()
    parts = list(slices(document))
    assert [item for part in parts for item in json.loads(part)] == whole
    assert all(len(part) < 16 * 1024 for part in parts)


@given(st.dictionaries(TEXTS, VALUES, max_size=6), st.sampled_from([1, 500]))
def test_the_parts_of_an_object_have_its_members(members: dict[str, Any], times: int) -> None:
    whole = {f"{number}{name}": value for number in range(times) for name, value in members.items()}
    found: dict[str, Any] = {}
    for part in slices(json.dumps(whole).encode()):
        found |= json.loads(part)
    assert found == whole


@pytest.mark.parametrize("document", [b"1", b"null", b"true", b'"x"', b"[]", b"{}"])
def test_what_is_short_or_no_container_stays_as_it_is(document: bytes) -> None:
    assert list(slices(document)) == [document]


def test_an_item_beyond_the_bound_is_refused() -> None:
    parts = slices(json.dumps(["x" * 60_000] * 9).encode())
    assert len([part for part in parts if part != b"[]"]) == 9
    with pytest.raises(Error):
        list(slices(json.dumps([1, "x" * 80_000, 2]).encode()))


@pytest.mark.parametrize(
    "item", ['"' + "x" * 1_000_000 + '"', '"' + r"\"" * 500_000 + '"', "[" + "0," * 500_000 + "0]"]
)
def test_the_end_of_a_long_item_is_searched_in_short_steps(item: str) -> None:
    document = f"[{item}]".encode()
    *steps, whole = slices(document, item_max_bytes=len(document))
    assert whole == document
    assert len(steps) > 200
    assert set(steps) == {b"[]"}


def test_an_item_beyond_the_bound_is_refused_before_its_end_is_found() -> None:
    parts = slices(b'["' + b"x" * 1_000_000 + b'"]')
    with pytest.raises(Error):
        list(islice(parts, 30))
