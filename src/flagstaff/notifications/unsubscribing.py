"""The links in mails with which their reader stops them, without a session."""

from struct import Struct
from typing import NamedTuple
from uuid import UUID

from flagstaff.identity.sessions.signed_links import SignedLinks

UNSUBSCRIBE_PATH = "/auth/unsubscribe"
UNSUBSCRIBE_PAGE = "/unsubscribe"


class Recipient(NamedTuple):
    """An account that gets mails about a project."""

    account_id: UUID
    project_id: UUID


class UnsubscribeTokens:
    """Makes and reads tokens, which contain both ids. They do not expire."""

    def __init__(self, secret_key: str) -> None:
        self._links = SignedLinks(secret_key, "unsubscribe", Struct("16s16s"))

    def make(self, recipient: Recipient) -> str:
        """Make the token of a recipient: 64 characters that need no escaping in a URL."""
        return self._links.make(recipient.account_id.bytes, recipient.project_id.bytes)

    def read(self, token: str) -> Recipient | None:
        """Return the recipient of a token; None if it is not genuine."""
        found = self._links.read(token)
        return Recipient(*(UUID(bytes=each) for each in found)) if found else None
