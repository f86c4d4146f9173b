"""The client of a request, as far as its head says: an SDK key, an account, or the address of a stranger.

By it, clients take turns on the event loop (concurrency/loop_turns.py). It decides nothing else: a token that has ended
may be known for longer, and is refused when it is read.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from hashlib import blake2b
from uuid import UUID

from starlette.types import Scope

from flagstaff.concurrency.loop_turns import LoopClient, Rank
from flagstaff.http.limits import Limits
from flagstaff.http.operations import ACCOUNT_ID, READING
from flagstaff.limits.key_owners import KeyOwner

IS_FREE = "is_free"
"""The name in a request's state by which a response says that it counts against no share: a file of the dashboard."""

REMEMBERED_TOKENS = 20_000
"""The tokens of which the accounts are known: those that were used last."""

CLIENT = "client"
"""The name in a request's state of its client."""

_API = "/api/"
_BEARER = b"bearer "
_KEY_MAX_LENGTH = 512
_Headers = Iterable[tuple[bytes, bytes]]


class Clients:
    """Finds the clients of requests."""

    def __init__(self, limits: Limits, find_key: Callable[[str], KeyOwner | None]) -> None:
        """`find_key` returns the owner of a valid SDK key, without waiting for anything; None for any other text."""
        self.limits = limits
        self.find_key = find_key
        self._accounts: OrderedDict[bytes, UUID] = OrderedDict()  # by the digests of tokens
        self.read_account: Callable[[str], UUID | None] = lambda _: None
        """Reads the account in a token that needs no query, once the management API is loaded."""

    def remember(self, token: str, account_id: UUID) -> None:
        """Note that a token has been accepted for an account."""
        digest = _digest(token.encode("latin-1", "replace"))
        self._accounts[digest] = account_id
        self._accounts.move_to_end(digest)
        if len(self._accounts) > REMEMBERED_TOKENS:
            self._accounts.popitem(last=False)

    def find(self, scope: Scope) -> LoopClient:
        """The client of a request, which is noted in its state."""
        state = scope.setdefault("state", {})
        client: LoopClient | None = state.get(CLIENT)
        if client is None:
            client = state[CLIENT] = self._find(scope)
        return client

    def has_become_known(self, scope: Scope) -> bool:
        """Return whether the key or token of a stranger's request, which is answered, has turned out to be valid."""
        if scope["state"].get(ACCOUNT_ID) is not None:
            return True
        given = _credential_in(scope["headers"])
        return given is not None and self.find_key(given.decode("latin-1")) is not None

    def _find(self, scope: Scope) -> LoopClient:
        address, given = self.limits.client(scope), _credential_in(scope["headers"])
        if given is None:
            return LoopClient(Rank.STRANGER, address)
        if not scope["path"].startswith(_API):
            owner = self.find_key(given.decode("latin-1"))
            return LoopClient(Rank.STRANGER, address) if owner is None else owner.client_at(address)
        account_id = self._find_account(given)
        if account_id is None:
            return LoopClient(Rank.STRANGER, address)
        return LoopClient(Rank.KNOWN if scope["method"] in READING else Rank.CHANGE, account_id)

    def _find_account(self, token: bytes) -> UUID | None:
        return self._accounts.get(_digest(token)) or self.read_account(token.decode("latin-1"))


def is_stranger(scope: Scope) -> bool:
    """Return whether the key or token in a request's head is not valid, as far as was known when it began."""
    client: LoopClient | None = scope["state"].get(CLIENT)
    return client is not None and client.rank is Rank.STRANGER


def _credential_in(headers: _Headers) -> bytes | None:
    """The key or token in a request's headers; None if there is none, or more than one."""
    found = set()
    for name, value in headers:
        if name in (b"x-sdk-key", b"x-api-key"):
            found.add(value.strip())
        elif name == b"authorization":
            text = value.strip()
            found.add(text[len(_BEARER) :].strip() if text[: len(_BEARER)].lower() == _BEARER else text)
    if len(found) != 1:
        return None
    given = found.pop()
    return given if 0 < len(given) <= _KEY_MAX_LENGTH else None


def _digest(token: bytes) -> bytes:
    return blake2b(token, digest_size=16).digest()
