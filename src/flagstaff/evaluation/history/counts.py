"""Counts how many flags were on and off in recorded evaluations, most of which share a layout."""

from collections.abc import Generator
from dataclasses import dataclass, field

from flagstaff.evaluation.history.layout import Layout
from flagstaff.evaluation.history.records import RecordedEvaluation


@dataclass(slots=True)
class _LayoutTables:
    """Tables that count the evaluations of a layout: from the byte of each recorded flag to 1 if it is on."""

    layout: Layout  # kept alive, because layouts are told apart by identity
    always_on: int
    tables: list[bytes] = field(default_factory=list)


class OnCounts:
    """Counts evaluations one after the other."""

    def __init__(self) -> None:
        self._layouts: dict[int, _LayoutTables] = {}

    def count(self, evaluation: RecordedEvaluation) -> Generator[None, None, tuple[int, int]]:
        """Count the flags that were on and those that were off, in small steps."""
        layout = evaluation.layout
        known = self._layouts.get(id(layout))
        if known is None:
            known = _LayoutTables(layout, sum(flag.default.enabled for flag in layout.constant))
            for flag in layout.recorded:
                known.tables.append(flag.on_by_byte)
                yield
            self._layouts[id(layout)] = known
        on = known.always_on + sum(table[byte] for table, byte in zip(known.tables, evaluation.recorded, strict=False))
        return on, len(layout.recorded) + len(layout.constant) - on
