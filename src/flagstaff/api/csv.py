"""Lines of CSV."""

import csv
import io
from collections.abc import Iterable
from typing import Any

# A spreadsheet takes a cell that begins like this for a formula, which whoever chose the text could make it run.
# Some take the wide forms of East Asian keyboards for the same.
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\t", "\r", "\n")


def csv_line(cells: Iterable[Any]) -> str:
    """A line of CSV. A text that a spreadsheet would interpret as a formula starts with an apostrophe."""
    line = io.StringIO()
    csv.writer(line).writerow(map(_text, cells))
    return line.getvalue()


def _text(cell: Any) -> str:
    if isinstance(cell, str) and cell.startswith(_FORMULA):
        return f"'{cell}"
    return "" if cell is None else str(cell)
