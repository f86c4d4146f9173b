"""The table of docs/reference/permissions.md, created from the table of permissions."""

from pathlib import Path

from flagstaff.permissions.members import Role
from flagstaff.permissions.permissions import MEANINGS, PERMISSIONS, Permission

PAGE = Path(__file__).parents[2] / "docs/reference/permissions.md"


def matrix() -> str:
    """Return the table of permissions by role."""
    rows = [
        f"| `{each}` | {MEANINGS[each]} | {' | '.join('yes' if each in PERMISSIONS[role] else '' for role in Role)} |"
        for each in Permission
    ]
    return "\n".join([f"| permission | allows to | {' | '.join(Role)} |", "|---|---|---|---|---|---|", *rows])


def renewed(page: str) -> str:
    """The page with the table of today in the place of the one that it has."""
    start = page.index(matrix().partition("\n")[0])
    return page[:start] + matrix() + page[page.index("\n\n", start) :]


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text("utf-8")), "utf-8")
