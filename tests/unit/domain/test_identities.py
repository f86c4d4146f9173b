"""The page that opens after a sign-in."""

import pytest

from flagstaff.accounts.single_sign_on.identities import check_return_to
from flagstaff.values.emails import domain_of


@pytest.mark.parametrize(
    "path",
    ["", "a", "//a", "/\\a", "/a\\b", "\\/a", " /a", "/a b", "/\x00", "/\r\nSet-Cookie:x", "http://a", "/é", "/" * 2],
)
def test_what_could_lead_to_another_site_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="path of this site"):
        check_return_to(path)


@pytest.mark.parametrize("path", ["/", "/projects/1?tab=rules&x=%2F%2F#top", "/a//b", "/@a", "/:80"])
def test_a_path_of_this_site_is_accepted(path: str) -> None:
    assert check_return_to(path) == path


def test_domains_are_compared_in_lower_case() -> None:
    assert domain_of("Ada@ACME.com") == "acme.com"
    assert domain_of("no address") == "no address"
