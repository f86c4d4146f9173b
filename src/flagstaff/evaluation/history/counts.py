"""Counts how many flags were on and off in recorded evaluations, most of which share a layout."""

from dataclasses import dataclass

from flagstaff.evaluation.history.layout import Layout
from flagstaff.evaluation.history.records import RecordedEvaluation


@dataclass(slots=True)
class _LayoutTables:
    """Tables that count the evaluations of a layout: from the byte of each recorded flag to 1 if it is on."""

    layout: Layout  # kept alive, because layouts are told apart by identity
    always_on: int
    tables: list[bytes]


class OnCounts:
    """Counts evaluations one after the other."""

    def __init__(self) -> None:
        self._layouts: dict[int, _LayoutTables] = {}

    def count(self, evaluation: RecordedEvaluation) -> tuple[int, int]:
        """Count the flags that were on and those that were off."""
        layout = evaluation.layout
        known = self._layouts.get(id(layout))
        if known is None:
            always_on = sum(flag.default.enabled for flag in layout.constant)
            known = _LayoutTables(layout, always_on, [flag.on_by_byte for flag in layout.recorded])
            self._layouts[id(layout)] = known
        on = known.always_on + sum(table[byte] for table, byte in zip(known.tables, evaluation.recorded, strict=False))
        return on, len(layout.recorded) + len(layout.constant) - on
