"""The names of clients in browsers, which they return in the tags of answers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstaff.serving.client_names import ClientNames

NAMES = ClientNames("k" * 32)
NAME = NAMES.make()


@given(st.text(max_size=40))
def test_what_was_not_made_here_is_no_name(text: str) -> None:
    assert not NAMES.is_name(text)


def test_an_altered_name_is_no_name() -> None:
    altered = ["", NAME[:-1], NAME + "0", NAME.upper() + " ", NAME[1:] + NAME[0], NAME[:-1] + "x", NAME[:-1] + "\u0660"]
    assert not any(map(NAMES.is_name, altered))


def test_a_name_of_another_secret_key_is_no_name() -> None:
    assert not ClientNames("j" * 32).is_name(NAME)


def test_instances_with_one_secret_key_know_each_others_names() -> None:
    assert ClientNames("k" * 32).is_name(NAME)


def test_each_client_gets_another_name() -> None:
    names = {NAMES.make() for _ in range(1_000)}
    assert len(names) == 1_000
    assert all(map(NAMES.is_name, names))


@pytest.mark.parametrize("value", ['"abc-{}"', 'W/"abc-7b-{}"', '"other", "abc-{}"', '"{}"', ' "-{}" ,'])
def test_a_name_is_found_in_the_tag_that_a_client_returns(value: str) -> None:
    assert NAMES.find([(b"accept", b"*/*"), (b"if-none-match", value.format(NAME).encode())]) == NAME


@pytest.mark.parametrize("value", ["", "*", "{}", "abc-{}", '"{}-abc"', '"abc{}"', '"-"', '"\xff"'])
def test_a_request_without_such_a_tag_has_no_name(value: str) -> None:
    assert NAMES.find([(b"if-none-match", value.format(NAME).encode("latin-1"))]) is None
    assert NAMES.find([(b"etag", f'"abc-{NAME}"'.encode())]) is None


def test_a_header_with_thousands_of_tags_is_looked_at_in_part() -> None:
    names, others = ClientNames("k" * 32), ClientNames("j" * 32)
    tags = ", ".join(f'"{others.make()}"' for _ in range(1_000))
    assert names.find([(b"if-none-match", tags.encode())]) is None
    assert names._sign.cache_info().misses < 10
