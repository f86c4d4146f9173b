"""The clients that open a stream again: those that do so all the time, and those to which a proxy passes no event.

Some proxies pass nothing of a response on before it ends. A client behind one hears nothing on its stream, gives up
after a while, and opens another without `Last-Event-ID`, or with an old one. That one ends with its first event, so
that the proxy passes it on.
"""

from collections import OrderedDict
from collections.abc import Iterable
from uuid import UUID

from starlette.types import Scope

from flagstaff.http.limits import Limits, admit
from flagstaff.serving.applications import Client

REMEMBERED = 20_000
"""Of how many clients it is known what their streams were sent: of those whose streams ended last."""

_NUMBER_DIGITS = 15


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

    def has_missed(self, key_id: UUID, client: Client, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        """Return whether a client that opens a stream has not received the last event of the one before."""
        heard = dict(headers).get(b"last-event-id", b"")[:_NUMBER_DIGITS]
        return self._sent.get((key_id, client.connection), 0) > (int(heard) if heard.isdigit() else 0)

    def record_end(self, key_id: UUID, client: Client, sent: int) -> None:
        """Remember the number of the last event that was written to a client's stream."""
        if not client.connection:
            return
        self._sent[key_id, client.connection] = sent
        self._sent.move_to_end((key_id, client.connection))
        if len(self._sent) > REMEMBERED:
            self._sent.popitem(last=False)
