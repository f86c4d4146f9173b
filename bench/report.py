"""Prints the bench's tables."""

from collections.abc import Sequence


def print_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table with columns as wide as needed. The first two columns are words, the others numbers."""
    lines = [heads, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    for line in lines:
        cells = (
            cell.ljust(width) if column < 2 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        print("  ".join(cells).rstrip())
    print()
