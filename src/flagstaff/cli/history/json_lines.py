"""Evaluations as JSON lines, compressed with gzip: each line is a record of the API, with its environment."""

import gzip
from typing import BinaryIO

import msgspec

from flagstaff.evaluation.history.decisions import DecisionForms
from flagstaff.evaluation.history.layout import Decision
from flagstaff.history.history_routes import call_view, decision_view
from flagstaff.history.store.following import FollowedSegment

SUFFIX = "jsonl.gz"
_LEVEL = 1  # a third of the time that the default takes
_encode = msgspec.json.Encoder().encode


class JsonLines:
    """Writes a file of evaluations."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = gzip.GzipFile(filename="", mode="wb", compresslevel=_LEVEL, fileobj=file, mtime=0)
        self._forms = DecisionForms(_form)

    def add(self, environment: str, segment: FollowedSegment) -> None:
        """Write evaluations of the environment with this key."""
        start = b'{"environment":' + _encode(environment) + b","
        for each in segment.evaluations():
            call = _encode(call_view(each))
            flags = b",".join(self._forms.of_layout(each.layout)(each.recorded))
            self._file.write(b"".join((start, call[1:-1], b',"flags":{', flags, b"}}\n")))

    def close(self) -> None:
        """Write what is missing. Leaves the file underneath open."""
        self._file.close()


def _form(decision: Decision) -> bytes:
    return _encode(decision.flag.key) + b":" + _encode(decision_view(decision))
