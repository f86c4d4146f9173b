"""The address by which a request is counted."""

from ipaddress import ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstaff.limits.client_address import MAX_HOPS, MAX_LENGTH, client_address, find_client

TRUSTED = [ip_network("10.0.0.0/8"), ip_network("fd00::/8")]


def behind_proxies(peer: str, forwarded_for: str | None) -> str:
    return client_address(peer, forwarded_for, TRUSTED)


def direct(peer: str, forwarded_for: str | None = None) -> str:
    return client_address(peer, forwarded_for, ())


def test_a_header_from_a_stranger_is_not_believed() -> None:
    assert behind_proxies("203.0.113.9", "198.51.100.1") == "203.0.113.9"
    assert direct("10.0.0.1", "198.51.100.1") == "10.0.0.1"


@pytest.mark.parametrize(
    ("forwarded_for", "client"),
    [
        ("198.51.100.1", "198.51.100.1"),
        ("1.1.1.1, 198.51.100.1", "198.51.100.1"),
        ("1.1.1.1, 198.51.100.1, 10.0.0.2,fd00::1", "198.51.100.1"),
        ("198.51.100.1:5678", "198.51.100.1"),
        ("[2001:db8::1]:443", "2001:db8::/64"),
        ("[2001:db8::1]", "2001:db8::/64"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("::ffff:198.51.100.1", "198.51.100.1"),
        ("1.1.1.1, ::ffff:10.0.0.7", "1.1.1.1"),
    ],
)
def test_behind_a_trusted_proxy_the_right_most_stranger_is_the_client(forwarded_for: str, client: str) -> None:
    assert behind_proxies("10.0.0.1", forwarded_for) == client


@pytest.mark.parametrize(
    ("forwarded_for", "client"),
    [
        ("", "10.0.0.1"),
        (" ", "10.0.0.1"),
        ("unknown", "10.0.0.1"),
        ("198.51.100.1, unknown", "10.0.0.1"),
        ("198.51.100.1, unknown, 10.0.0.2", "10.0.0.2"),
        ("198.51.100.1,", "10.0.0.1"),
        ("999.1.1.1", "10.0.0.1"),
        ("[]:80", "10.0.0.1"),
    ],
)
def test_garbage_ends_the_walk_at_the_last_good_address(forwarded_for: str, client: str) -> None:
    assert behind_proxies("10.0.0.1", forwarded_for) == client


def test_where_every_hop_is_trusted_the_first_one_is_the_client() -> None:
    assert behind_proxies("10.0.0.1", "10.0.0.3, 10.0.0.2") == "10.0.0.3"
    assert behind_proxies("10.0.0.1", None) == "10.0.0.1"


def test_an_endless_list_of_hops_is_not_walked_to_its_end() -> None:
    assert behind_proxies("10.0.0.1", "198.51.100.1" + ", 10.0.0.2" * (MAX_HOPS + 1)) == "10.0.0.2"
    assert behind_proxies("10.0.0.1", "198.51.100.1" + ", 10.0.0.2" * MAX_HOPS) == "198.51.100.1"


def test_a_text_that_is_too_long_for_an_address_is_neither_parsed_nor_kept() -> None:
    zone = "fe80::1%" + "x" * (MAX_LENGTH - len("fe80::1%"))
    assert behind_proxies("10.0.0.1", zone) == "fe80::/64"
    assert behind_proxies("10.0.0.1", zone + "x") == "10.0.0.1"
    assert behind_proxies("10.0.0.1", " " * 10_000 + "198.51.100.1") == "198.51.100.1"


def test_a_log_shows_the_whole_address() -> None:
    assert find_client("10.0.0.1", "1.1.1.1, 2001:db8::7 ", TRUSTED) == "2001:db8::7"
    assert find_client("2001:db8::7", "1.1.1.1", TRUSTED) == "2001:db8::7"


def test_the_addresses_of_one_subscriber_share_a_key() -> None:
    assert direct("2001:db8::1") == direct("2001:db8::ffff:1") == "2001:db8::/64"
    assert direct("2001:db8:0:1::1") != direct("2001:db8::1")
    assert direct("::ffff:203.0.113.9") == direct("203.0.113.9")
    assert direct("fe80::1%eth0") == "fe80::/64"


def test_a_peer_without_an_address_is_its_own_key() -> None:
    assert direct("") == ""
    assert behind_proxies("/run/flagstaff.sock", "198.51.100.1") == "/run/flagstaff.sock"


@given(
    peer=st.one_of(st.text(), st.just("10.0.0.1")),
    forwarded_for=st.one_of(st.none(), st.text(), st.from_regex(r"[\[\]0-9a-f.:%, ]*")),
)
def test_no_header_and_no_peer_is_an_error(peer: str, forwarded_for: str | None) -> None:
    assert isinstance(behind_proxies(peer, forwarded_for), str)
