"""Lines of CSV."""

import csv
import io
from collections.abc import Iterable
from typing import Any

from flagstaff.values.numbers import number_text

# A spreadsheet takes a cell that begins like this for a formula, which whoever chose the text could make it run.
# Some take the wide forms of East Asian keyboards for the same.
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\t", "\r", "\n")


def csv_line(cells: Iterable[Any], *, is_raw: bool = False) -> str:
    """A line of CSV. A text that a spreadsheet would interpret as a formula starts with an apostrophe.

    It does not in a raw line, which has all texts as they are.
    """
    line = io.StringIO()
    csv.writer(line).writerow(_text(cell, is_raw=is_raw) for cell in cells)
    return line.getvalue()


def _text(cell: Any, *, is_raw: bool) -> str:
    if isinstance(cell, str) and cell.startswith(_FORMULA) and not is_raw:
        return f"'{cell}"
    if isinstance(cell, float):
        return number_text(cell)
    return "" if cell is None else str(cell)
