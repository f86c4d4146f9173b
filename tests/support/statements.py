"""Compiled SQL statements, which the databases of all tests of a process share."""

from typing import Any

import sqlalchemy as sa

_Key = tuple[Any, ...]  # a dialect, and what identifies the statement


class _Statements(dict[_Key, Any]):
    """Compiled statements by the kind of the dialect, because each database has its own dialect object."""

    def get(self, key: _Key, default: Any = None) -> Any:
        return super().get((type(key[0]), *key[1:]), default)

    def __setitem__(self, key: _Key, compiled: Any) -> None:
        super().__setitem__((type(key[0]), *key[1:]), compiled)


def share_statements() -> None:
    """Let every database of this process use statements that another one has compiled.

    A test opens databases of its own. Compiling their statements again took a sixth of its processor time.
    """
    statements = _Statements()
    sa.event.listen(
        sa.Engine, "engine_connect", lambda connection: connection.execution_options(compiled_cache=statements)
    )
