"""The addresses that webhooks may reach."""

from ipaddress import ip_address, ip_network

import pytest

from flagstaff.hooks.client.addresses import is_allowed

INSIDE = [
    "127.0.0.1",
    "127.8.8.8",
    "0.0.0.0",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "198.18.0.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "fe80::1",
    "fc00::1",
    "fd12:3456::1",
    "ff02::1",
    "2001:db8::1",
    "::ffff:10.0.0.1",
    "::ffff:127.0.0.1",
    "::10.0.0.1",
    "64:ff9b::a00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::7f00:1",
    "2002:7f00:1::",
    "2002:a00:1::1",
    "2001:0:a00:1::1",
    "2001:0:808:808:0:0:f5ff:fffe",
    "2002:808:808::",
    "192.0.0.192",
    "192.88.99.1",
    "168.63.129.16",
    "::ffff:0:7f00:1",
    "::ffff:0:a00:1",
    "64:ff9b:1:7f00:0:100::",
    "100::1",
    "fec0::1",
    "3fff::1",
    "5f00::1",
    "4000::1",
]
PUBLIC = ["1.1.1.1", "8.8.8.8", "2606:4700:4700::1111", "::ffff:1.1.1.1", "64:ff9b::808:808"]


@pytest.mark.parametrize("address", INSIDE)
def test_addresses_inside_are_refused_in_every_spelling(address: str) -> None:
    assert not is_allowed(ip_address(address), ())
    assert not is_allowed(ip_address(address), [ip_network("203.0.113.0/24"), ip_network("2001:db8:1::/48")])


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_allowed_but_not_where_only_networks_are(address: str) -> None:
    assert is_allowed(ip_address(address), ())
    assert not is_allowed(ip_address(address), [ip_network("10.0.0.0/8")], only_networks=True)


def test_the_operator_can_allow_networks() -> None:
    networks = [ip_network("10.0.0.0/8"), ip_network("fd00::/8")]
    for address in ("10.1.2.3", "::ffff:10.1.2.3", "fd12::1", "64:ff9b::a01:203"):
        assert is_allowed(ip_address(address), networks, only_networks=True), address
    assert not is_allowed(ip_address("192.168.1.1"), networks)
