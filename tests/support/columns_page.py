"""docs/reference/history-columns.md: the tables of columns, created from the schema that the writers use."""

from collections.abc import Sequence
from pathlib import Path

from flagstaff.history.clickhouse.table import COLUMNS
from flagstaff.history.exported_columns import (
    EVALUATIONS,
    EVENTS,
    FLAGS,
    Column,
    clickhouse_type,
    json_type,
    parquet_type,
    sql_type,
)

PAGE = Path(__file__).parents[2] / "docs/reference/history-columns.md"


def tables() -> list[str]:
    """Return the tables of the page, in its order."""
    return [
        _table(EVALUATIONS, ("JSON lines", "Parquet", "ClickHouse", "PostgreSQL")),
        _table(FLAGS, ("JSON lines", "Parquet")),
        "\n".join(["| map | type |", "|---|---|", *_maps()]),
        _table(EVENTS, ("JSON lines", "Parquet", "ClickHouse")),
    ]


def _table(columns: Sequence[Column], forms: Sequence[str]) -> str:
    types = {"JSON lines": json_type, "Parquet": parquet_type, "ClickHouse": clickhouse_type, "PostgreSQL": sql_type}
    rows = [
        f"| `{column.name}` | {column.content} | {' | '.join(types[form](column) for form in forms)} |"
        for column in columns
    ]
    return "\n".join([f"| column | content | {' | '.join(forms)} |", "|---" * (len(forms) + 2) + "|", *rows])


def _maps() -> list[str]:
    own = {column.name for column in EVALUATIONS}
    return [f"| `{name}` | {kind} |" for name, kind in COLUMNS.items() if name not in own]


def renewed(page: str) -> str:
    """The page with the tables of today in the place of those that it has."""
    start = 0
    for table in tables():
        start = page.index("\n\n| ", start) + 2
        end = page.find("\n\n", start)
        page = page[:start] + table + (page[end:] if end != -1 else "\n")
        start += len(table)
    return page


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text("utf-8")), "utf-8")
