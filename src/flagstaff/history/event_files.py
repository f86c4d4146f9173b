"""The files in which batches of events wait on disk. The first byte is the version of the format."""

import msgspec

from flagstaff.history.spool import unknown_version
from flagstaff.metrics.events import EventBatch

_VERSION = b"\x01"


class EventForm:
    """The files of batches of events."""

    def encode(self, batch: EventBatch) -> bytes:
        """A file's content."""
        return _VERSION + msgspec.msgpack.encode(batch)

    def decode(self, content: bytes) -> EventBatch:
        """The batch in a file; raises ValueError when it cannot be understood."""
        if content[:1] != _VERSION:
            raise unknown_version(content[:1])
        return msgspec.msgpack.decode(content[1:], type=EventBatch)
