"""The results of a message that was sent."""

from typing import NamedTuple


class Answer(NamedTuple):
    """A response: its status, its first kilobyte, and for how many seconds it asks to wait before the next attempt."""

    status: int
    text: str
    retry_after_seconds: float | None


class SendError(Exception):
    """No response has come. The text says why, without the URL, which may contain a secret."""
