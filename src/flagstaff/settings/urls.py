"""URLs in settings, which may hold passwords: no error of this package repeats them."""

from urllib.parse import SplitResult, urlsplit


def split_url(text: str) -> SplitResult:
    """The parts of a URL; all of them are empty if it is not valid or has white space."""
    try:
        url = urlsplit(text)
        _ = url.port  # raises ValueError if it is no number, or too large
    except ValueError:
        url = None
    if url is None or any(character.isspace() for character in text):
        return SplitResult("", "", "", "", "")
    return url
