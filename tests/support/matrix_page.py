"""The tables of docs/reference/permissions.md, made from the table of permissions and the OpenAPI document."""

from flagstaff.domain.members import Role
from flagstaff.domain.permissions import MEANINGS, PERMISSIONS, Permission
from flagstaff.web.management.auth import PERMISSION
from tests.support.description import described


def matrix() -> str:
    """Who has which permission."""
    rows = [
        f"| `{each}` | {MEANINGS[each]} | {' | '.join('yes' if each in PERMISSIONS[role] else '' for role in Role)} |"
        for each in Permission
    ]
    return "\n".join([f"| permission | allows to | {' | '.join(Role)} |", "|---|---|---|---|---|---|", *rows])


def operations() -> str:
    """Which operation requires which permission, and where: in an environment or in the whole project."""
    rows = [
        f"| `{method.upper()} {path.removeprefix('/api/projects/{project_id}') or '/'}` | `{operation[PERMISSION]}` "
        f"| {'environment' if '{env_id}' in path or '/sdk-keys' in path else 'project'} |"
        for path, methods in described()["paths"].items()
        for method, operation in methods.items()
        if PERMISSION in operation
    ]
    return "\n".join(["| operation under `/api/projects/{project_id}` | permission | in |", "|---|---|---|", *rows])


if __name__ == "__main__":
    print(f"{matrix()}\n\n{operations()}")  # noqa: T201
