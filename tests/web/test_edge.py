"""Small parts of the HTTP layer: lengths, connection counts, and a limited log."""

import io
import json
from ipaddress import ip_network
from time import monotonic

import pytest
import structlog

from flagstaff.http.bounded_log import BoundedLog
from flagstaff.http.connections.connection_bounds import ConnectionBounds
from flagstaff.http.connections.request_head import CONTENT_LENGTH_MAX, content_length
from tests.support.api import Caller
from tests.web.conftest import Call


@pytest.mark.parametrize("text", [b"", b"x", b"-1", b"+1", b"1.0", b"1 1", b"\xb2", b"0x1"])
def test_a_length_must_be_a_number(text: bytes) -> None:
    assert content_length(text) is None


def test_a_length_may_have_any_number_of_digits() -> None:
    assert content_length(b"0" * 5_000) == 0
    assert content_length(b"0" * 5_000 + b"42") == 42
    assert content_length(b"9" * 15) == 10**15 - 1
    assert content_length(b"9" * 5_000) == CONTENT_LENGTH_MAX


def test_an_address_has_a_bound_and_all_have_one() -> None:
    bounds = ConnectionBounds(most=4, most_per_address=2, trusted_proxies=[ip_network("10.0.0.0/8")])
    first, second = bounds.enter("2001:db8::1"), bounds.enter("2001:db8::2")
    assert first == second == "2001:db8::/64"
    assert bounds.enter("2001:db8::3") is None
    assert [bounds.enter("10.0.0.1") for _ in range(3)] == ["10.0.0.1", "10.0.0.1", None]
    assert (bounds.open, bounds.refused) == (4, 2)
    assert first is not None
    bounds.leave(first)
    assert bounds.enter("2001:db8::3") == first


def test_a_network_that_one_customer_may_have_gets_half_of_the_connections() -> None:
    bounds = ConnectionBounds(most=8, most_per_address=2, trusted_proxies=[ip_network("2001:db8:2::/48")])
    entered = [bounds.enter(f"2001:db8:1:{number}::1") for number in range(5)]
    assert entered == ["2001:db8:1::/64", "2001:db8:1:1::/64", "2001:db8:1:2::/64", "2001:db8:1:3::/64", None]
    assert bounds.enter("2001:db8:3::1") == "2001:db8:3::/64"
    bounds.leave("2001:db8:1:3::/64")
    assert bounds.enter("2001:db8:1:ffff::1") == "2001:db8:1:ffff::/64"
    assert [bounds.enter("2001:db8:2::1") for _ in range(4)] == ["2001:db8:2::/64"] * 3 + [None]


def test_fewer_descriptors_lower_both_bounds_and_one_address_gets_half() -> None:
    bounds = ConnectionBounds(most=1_000, most_per_address=100, trusted_proxies=[])
    bounds.keep_within(5_000)
    assert (bounds.most, bounds.most_per_address) == (1_000, 100)
    bounds.keep_within(128)
    assert (bounds.most, bounds.most_per_address) == (128, 64)
    bounds.keep_within(1)
    assert (bounds.most, bounds.most_per_address) == (1, 1)


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_LOGIN_RATE_LIMIT": "2/minute"}])
async def test_a_flood_beyond_a_limit_writes_a_hundred_entries_in_ten_seconds_and_the_others_all(
    call_from: Call, log_stream: io.StringIO
) -> None:
    caller = call_from("192.0.2.7")
    statuses = [(await caller.post("/auth/login", content=b"{")).status_code for _ in range(120)]
    assert statuses == [400, 400] + [429] * 118
    assert (await caller.post("/auth/passkeys/login", content=b"{")).status_code == 429
    await caller.get("/health")
    entries = [json.loads(line) for line in log_stream.getvalue().splitlines()]
    written = [(entry["path"], entry["status"]) for entry in entries if entry["event"] == "request"]
    assert written[2:102] == [("/auth/login", 429)] * 100
    assert written[102:] == [("/auth/passkeys/login", 429), ("/health", 200)]


async def test_what_anyone_can_send_writes_a_thousand_entries_in_ten_seconds_and_never_hides_an_account(
    ada: Caller, call_from: Call, log_stream: io.StringIO
) -> None:
    stranger, began = call_from("192.0.2.7"), monotonic()
    for number in range(1_005):
        assert (await stranger.get(f"/unknown/{number}")).status_code == 404
    periods = 1 + int((monotonic() - began) // 10)  # on a busy machine, more than one
    assert (await ada.get("/api/projects")).status_code == 200
    entries = [json.loads(line) for line in log_stream.getvalue().splitlines()]
    written = [(entry["path"], entry["status"]) for entry in entries if entry["event"] == "request"]
    assert len([path for path, _ in written if path.startswith("/unknown/")]) <= 1_000 * periods
    assert written[-1] == ("/api/projects", 200)


async def test_an_entry_has_the_first_512_characters_of_a_path(call_from: Call, log_stream: io.StringIO) -> None:
    caller = call_from("192.0.2.7")
    assert (await caller.get("/" + "a" * 511)).status_code == 404
    assert (await caller.get("/" + "%7f" * 2_000)).status_code == 404
    entries = [json.loads(line) for line in log_stream.getvalue().splitlines()]
    exact, cut = [entry["path"] for entry in entries if entry["event"] == "request"]
    assert exact == "/" + "a" * 511
    assert cut == "/" + "\x7f" * 511 + "…"


def test_a_log_with_a_bound_says_how_much_it_left_out(log_stream: io.StringIO) -> None:
    now = 0.0
    log = BoundedLog(structlog.get_logger(), 2, 10, lambda: now)
    for number in range(5):
        log.info("refused", number=number)
    now = 10.0
    log.info("refused", number=5)
    entries = [json.loads(line) for line in log_stream.getvalue().splitlines()]
    assert [(entry["number"], entry.get("left_out")) for entry in entries] == [(0, None), (1, None), (5, 3)]
