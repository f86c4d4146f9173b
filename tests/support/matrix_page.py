"""The tables of docs/reference/permissions.md, created from the table of permissions and the OpenAPI document."""

from pathlib import Path

from flagstaff.assembly.openapi import ALSO, PERMISSION, PLACE
from flagstaff.projects.members.members import Role
from flagstaff.projects.permissions import MEANINGS, PERMISSIONS, Permission
from tests.support.description import described

PAGE = Path(__file__).parents[2] / "docs/reference/permissions.md"


def matrix() -> str:
    """Return the table of permissions by role."""
    rows = [
        f"| `{each}` | {MEANINGS[each]} | {' | '.join('yes' if each in PERMISSIONS[role] else '' for role in Role)} |"
        for each in Permission
    ]
    return "\n".join([f"| permission | allows to | {' | '.join(Role)} |", "|---|---|---|---|---|---|", *rows])


def operations() -> str:
    """Return the table of the permissions that operations require, in an environment or in the whole project."""
    rows = [
        f"| `{method.upper()} {path.removeprefix('/api/projects/{project_id}') or '/'}` "
        f"| {', '.join(f'`{each}`' for each in (operation[PERMISSION], *operation.get(ALSO, ())))} "
        f"| {operation[PLACE]} |"
        for path, methods in described()["paths"].items()
        for method, operation in methods.items()
        if PERMISSION in operation
    ]
    return "\n".join(["| operation under `/api/projects/{project_id}` | permissions | in |", "|---|---|---|", *rows])


def renewed(page: str) -> str:
    """The page with the tables of today in the place of those that it has."""
    for table in (matrix(), operations()):
        start = page.index(table.partition("\n")[0])
        end = page.find("\n\n", start)
        page = page[:start] + table + (page[end:] if end != -1 else "\n")
    return page


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text("utf-8")), "utf-8")
