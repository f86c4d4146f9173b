"""A streaming replica of a test's PostgreSQL."""

import subprocess
from typing import Self

from tests.support.postgres import PostgresServer


class Replica(PostgresServer):
    """A copy of a running server, which follows it until it is promoted."""

    def __init__(self, primary: PostgresServer) -> None:
        super().__init__()
        self._primary = primary

    @classmethod
    def of(cls, primary: PostgresServer) -> Self:
        """Start a replica; `delete` ends it."""
        return cls(primary).__enter__()

    def _initialise(self) -> None:
        options = ["--write-recovery-conf", "--checkpoint=fast", "--no-sync", "-D", str(self._data)]
        outcome = subprocess.run(
            [self._programs / "pg_basebackup", "-d", self._primary.url(), *options],
            capture_output=True,
            user=self._user,
            cwd=self._folder,
            check=False,
        )
        if outcome.returncode:
            raise RuntimeError(f"pg_basebackup failed:\n{outcome.stderr.decode()}")
