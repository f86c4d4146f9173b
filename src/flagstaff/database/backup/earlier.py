"""Reads backups by the last development build before 1.0 as backups of the first revision."""

from collections.abc import AsyncIterator

import msgspec

from flagstaff.database.backup.forms import Row, Source, TableForm
from flagstaff.database.development_builds import LAST_REVISION, UNREAD
from flagstaff.database.schema_state import FIRST

_STATE = "archived_enabled"
_DROPPED = {"history.events", "ended_tokens"}


def as_known(source: Source) -> Source:
    """Return a source whose revision this version knows, if it knows the one that is given."""
    return _Earlier(source) if source.revision == LAST_REVISION else source


class _Earlier:
    """Does to the rows of a source what `development_builds.take_over` does to a database."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._given = {form.full_name: form for form in source.forms}
        self.revision = FIRST
        self.forms = [_without_state(form) for form in source.forms if form.full_name not in _DROPPED]
        self.rows = source.rows
        self.counters = source.counters

    async def batches(self, form: TableForm) -> AsyncIterator[list[Row]]:
        """A table's rows, some at a time."""
        if form.full_name in UNREAD:
            return
        async for rows in self._source.batches(self._given[form.full_name]):
            yield list(map(_with_own_state, rows)) if form.full_name == "flags" else rows


def _without_state(form: TableForm) -> TableForm:
    return msgspec.structs.replace(form, columns=[column for column in form.columns if column.name != _STATE])


def _with_own_state(flag: Row) -> Row:
    state = flag.pop(_STATE, None)
    if flag["archived_at"] is None:
        return flag
    return flag | ({"archived_at": None} if flag["enabled"] else {"enabled": state})
