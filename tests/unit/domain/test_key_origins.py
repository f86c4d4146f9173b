"""The origins of pages that may use a browser's key."""

import re

import pytest

from flagstaff.projects.key_origins import ORIGIN_MAX_LENGTH, allows, check_origin

REFUSED = {
    "*": "must not be '*'; leave the list empty to allow pages of every origin",
    "null": "must begin with a scheme, such as https://shop.example.com",
    "": "must begin with a scheme, such as https://shop.example.com",
    "shop.example.com": "must begin with a scheme, such as https://shop.example.com",
    "//shop.example.com": "must begin with a scheme, such as https://shop.example.com",
    "*://shop.example.com": "must begin with a scheme, such as https://shop.example.com",
    "https://shop.example.com/": "must not have a path; write https://shop.example.com",
    "https://Shop.example.com:443/a?b#c": "must not have a path; write https://shop.example.com",
    "https://shop.example.com?b": "must not have a path; write https://shop.example.com",
    "HTTPS://shop.example.com": "must be written as browsers send it: https://shop.example.com",
    "https://Shop.example.com": "must be written as browsers send it: https://shop.example.com",
    "https://shop.example.com:443": "must be written as browsers send it: https://shop.example.com",
    "http://shop.example.com:80": "must be written as browsers send it: http://shop.example.com",
    "https://shop.example.com:08443": "must be written as browsers send it: https://shop.example.com:8443",
    "https://bücher.example": "must be written as browsers send it: https://xn--bcher-kva.example",
    "https://*.BÜCHER.example": "must be written as browsers send it: https://*.xn--bcher-kva.example",
    "http://[0:0::1]:3000": "must be written as browsers send it: http://[::1]:3000",
    "https://ada@shop.example.com": (
        "must not have a user name; write the scheme, the host and the port, if any, such as https://shop.example.com"
    ),
    **dict.fromkeys(
        [
            "https://pr-*.example.com",
            "https://shop.*.com",
            "https://*.*.example.com",
            "https://*",
            "https://*example.com",
        ],
        "must have '*' only as the whole first label of the host, as in https://*.example.com",
    ),
    **dict.fromkeys(
        ["https://*.com", "https://*.localhost", "http://*.0.0.1"],
        "must have a domain of two labels or more after '*.', as in https://*.example.com",
    ),
    **dict.fromkeys(
        ["https://shop:0", "https://shop:65536", "https://shop:", "https://shop:x", "http://[::1]3000", "http://a:1:2"],
        "must have a port from 1 to 65535 after the host, or none, such as https://shop.example.com",
    ),
}
NO_HOSTS = [
    *("https://", "https://:443", "https://a..b", "https://.example.com", "https://shop.example.com."),
    *("https://-a.com", "https://a b.com", "https://a,b.com", f"https://{64 * 'a'}.com", "http://256.0.0.1"),
    *("http://1.2.3", "http://[::1", "http://[x]", "http://[]", "https://☃\u200d.example", f"https://{130 * 'a.'}com"),
    *("https://a\x00.com", "https://a\ud800.com"),
]
ACCEPTED = [
    "https://shop.example.com",
    "http://localhost:5173",
    "https://a_b.example.com:8443",
    "https://xn--bcher-kva.example",
    "http://127.0.0.1:3000",
    "http://[::1]:3000",
    "https://*.example.com",
    "https://*.example.co.uk:8443",
    "capacitor://localhost",
    "chrome-extension://mhjfbmdgcfjbbpaeojofohoefgiehjai",
]


@pytest.mark.parametrize(("given", "message"), REFUSED.items())
def test_what_no_browser_sends_is_refused_and_the_message_says_what_to_write(given: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        check_origin(given)


@pytest.mark.parametrize("given", NO_HOSTS)
def test_what_is_no_host_is_refused(given: str) -> None:
    with pytest.raises(ValueError, match="must have the name or the address of a host after the scheme, such as"):
        check_origin(given)


def test_a_text_that_is_too_long_is_refused() -> None:
    with pytest.raises(ValueError, match=f"must be at most {ORIGIN_MAX_LENGTH} characters long"):
        check_origin("https://" + ORIGIN_MAX_LENGTH * "a")


@pytest.mark.parametrize("given", ACCEPTED)
def test_what_browsers_send_is_accepted_as_it_is_and_allows_itself(given: str) -> None:
    assert check_origin(given) == given
    assert allows({given}, given)


@pytest.mark.parametrize(
    "origin",
    [
        *("null", "", "*", "http://shop.example.com", "https://shop.example.com:8443", "https://example.com"),
        *("https://shop.example.com.evil.example", "https://evil-shop.example.com", "https://evilshop.example.com"),
        *("https://SHOP.example.com", "https://shop.example.com/", "https://shop.example.com, https://evil.example"),
    ],
)
def test_another_origin_is_not_allowed(origin: str) -> None:
    assert not allows({"https://shop.example.com"}, origin)


def test_an_asterisk_stands_for_exactly_one_label() -> None:
    origins = {"https://*.example.com", "https://*.example.org:8443"}
    for origin in ("https://shop.example.com", "https://pr-12.example.com", "https://a.example.org:8443"):
        assert allows(origins, origin), origin
    for origin in (
        *("https://example.com", "https://a.b.example.com", "http://shop.example.com", "https://shop.example.com:444"),
        *("https://shop.example.org", "https://evilexample.com", "https://shop.example.com.evil.example", "null"),
    ):
        assert not allows(origins, origin), origin
