"""The tables of docs/reference/permissions.md, created from the table of permissions and the OpenAPI document."""

from flagstaff.assembly.openapi import ALSO, PERMISSION, PLACE
from flagstaff.projects.members.members import Role
from flagstaff.projects.permissions import MEANINGS, PERMISSIONS, Permission
from tests.support.description import described


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


if __name__ == "__main__":
    print(f"{matrix()}\n\n{operations()}")  # noqa: T201
