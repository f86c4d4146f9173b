"""The clients that open a stream again: those that do so all the time, and those to which a proxy passes no event.

Some proxies pass nothing of a response on before it ends. A client behind one hears nothing on its stream, gives up
after a while, and opens another without `Last-Event-ID`, or with an old one. That one ends at once, so that the proxy
passes its events on.
"""

from collections import OrderedDict
from collections.abc import Iterable
from enum import Enum, auto
from uuid import UUID

from starlette.types import Scope

from flagstaff.history.applications import Client
from flagstaff.http.limits import Limits, admit

REMEMBERED = 20_000
"""Of how many clients it is known what their streams were sent: of those whose streams ended last."""

_NUMBER_DIGITS = 15


class Missed(Enum):
    """The events of its last stream that a client has not received, as far as is known."""

    NOTHING = auto()
    LAST = auto()
    ALL = auto()


class StreamClients:
    """The clients, told apart by their keys and by the ids of their connections, which are random."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._sent: OrderedDict[tuple[UUID, str], int] = OrderedDict()

    def admit(self, key_id: UUID, client: Client, scope: Scope) -> None:
        """Count a stream; raises Error LIMITED, after which some SDKs poll instead, and the others wait."""
        if client.connection:
            admit(self._limits.streams, (key_id, client.connection))
        else:
            admit(self._limits.unnamed_streams, (key_id, self._limits.client(scope)))

    def find_missed(self, key_id: UUID, client: Client, headers: Iterable[tuple[bytes, bytes]]) -> Missed:
        """Return what a client that opens a stream has missed of the one before."""
        heard = dict(headers).get(b"last-event-id", b"")[:_NUMBER_DIGITS]
        if self._sent.get((key_id, client.connection), 0) <= (int(heard) if heard.isdigit() else 0):
            return Missed.NOTHING
        return Missed.LAST if heard else Missed.ALL

    def record_end(self, key_id: UUID, client: Client, sent: int) -> None:
        """Remember the number of the last event that was written to a client's stream; 0 if there was none."""
        if not client.connection or not sent:
            return
        self._sent[key_id, client.connection] = sent
        self._sent.move_to_end((key_id, client.connection))
        if len(self._sent) > REMEMBERED:
            self._sent.popitem(last=False)
