"""The client that a limit counts: the peer, or the client that a trusted proxy names."""

import httpx
import pytest

from tests.support.api import Caller
from tests.web.conftest import Call

TWO = {"FLAGSTAFF_LOGIN_RATE_LIMIT": "2/minute"}
TRUSTING = {**TWO, "FLAGSTAFF_TRUSTED_PROXIES": "10.0.0.0/8, fd00::/8"}


async def statuses(caller: Caller, *forwarded_for: str) -> list[int]:
    """Return the statuses of logins with these X-Forwarded-For headers."""
    answers: list[httpx.Response] = []
    for each in forwarded_for:
        headers = {"x-forwarded-for": each} if each else {}
        answers.append(await caller.post("/auth/login", json={"email": "a@b", "password": "x"}, headers=headers))
    return [answer.status_code for answer in answers]


@pytest.mark.parametrize("environ", [TWO])
async def test_an_untrusted_peer_is_not_believed(call_from: Call) -> None:
    assert await statuses(call_from("192.0.2.1"), "203.0.113.1", "203.0.113.2", "203.0.113.3") == [401, 401, 429]


@pytest.mark.parametrize("environ", [TRUSTING])
async def test_a_trusted_proxy_is_believed_but_not_what_its_client_claims(call_from: Call) -> None:
    proxy = call_from("10.1.2.3")

    assert await statuses(proxy, "203.0.113.1", "203.0.113.1", "203.0.113.2") == [401, 401, 401]
    # The client's own value is to the left of the value that the proxy adds.
    assert await statuses(proxy, "8.8.8.8, 203.0.113.1", "203.0.113.1, 10.9.9.9", "x, 203.0.113.1") == [429, 429, 429]
    assert await statuses(call_from("192.0.2.1"), "203.0.113.1", "203.0.113.9", "") == [401, 401, 429]


@pytest.mark.parametrize("environ", [TRUSTING])
async def test_a_proxy_that_names_no_client_counts_itself(call_from: Call) -> None:
    assert await statuses(call_from("10.1.2.3"), "", "unknown", "", ",,,") == [401, 401, 429, 429]


@pytest.mark.parametrize("environ", [TWO])
async def test_the_addresses_of_one_ipv6_network_count_together(call_from: Call) -> None:
    found = [await statuses(call_from(f"2001:db8::{last}"), "") for last in ("1", "2", "ffff:ffff")]

    assert found == [[401], [401], [429]]
    assert await statuses(call_from("2001:db8:0:1::1"), "") == [401]
