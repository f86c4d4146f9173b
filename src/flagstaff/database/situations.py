"""Why the database cannot be used, and what to do: one table for a start, `/ready`, `flagstaff doctor` and responses.

The sentences are read by strangers, too, so they name no role, host, database or path.
"""

import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Situation:
    """A cause and the step that ends it, as sentences."""

    cause: str
    step: str

    @property
    def message(self) -> str:
        """Both, for the request that met it."""
        return f"{self.cause} Nothing was changed. {self.step}"


_PASSWORD = Situation(
    "PostgreSQL refuses the role or its password in FLAGSTAFF_DATABASE_URL.",
    "Correct the URL, or set the role's password: ALTER ROLE … PASSWORD '…'",
)
_LOGIN = Situation(
    "PostgreSQL refuses the login of the role in FLAGSTAFF_DATABASE_URL.",
    "Check that the role exists and may log in (ALTER ROLE … LOGIN), and that pg_hba.conf allows it from this machine, "
    "with or without TLS. The log of PostgreSQL has the reason.",
)
_NO_DATABASE = Situation(
    "The database in FLAGSTAFF_DATABASE_URL does not exist.",
    "Correct the URL, or create the database: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0",
)
_NO_RIGHTS = Situation(
    "The role in FLAGSTAFF_DATABASE_URL may not use the tables of Flagstaff, which belong to another role.",
    "Use the role that owns them, or give them to this one: ALTER TABLE … OWNER TO …",
)
_NO_CONNECTIONS = Situation(
    "PostgreSQL has no connection left.",
    "End sessions that are not needed (pg_stat_activity), or raise max_connections.",
)
_NO_TLS = Situation(
    "PostgreSQL does not offer TLS, which sslmode in FLAGSTAFF_DATABASE_URL requires.",
    "Turn on ssl in PostgreSQL, or choose another sslmode.",
)
_CERTIFICATE = Situation(
    "The TLS connection to PostgreSQL fails, because one side does not accept the certificate of the other.",
    "Check sslrootcert, sslcert and the host in FLAGSTAFF_DATABASE_URL, and the certificate of PostgreSQL.",
)
READ_ONLY = Situation(
    "PostgreSQL cannot be written: it is a standby, or default_transaction_read_only is on.",
    "Use the address of the primary, or turn the setting off where it was set: in postgresql.conf, ALTER DATABASE or "
    "ALTER ROLE. Hosted services turn it on when the disk is full: then free space.",
)

_BY_SQLSTATE: Mapping[str, Situation] = MappingProxyType(
    {
        "28P01": _PASSWORD,
        "28000": _LOGIN,
        "3D000": _NO_DATABASE,
        "42501": _NO_RIGHTS,
        "53300": _NO_CONNECTIONS,
        "25006": READ_ONLY,
    }
)
_NO_TLS_OFFERED = "rejected SSL upgrade"  # what the driver says; it has no class of its own for this


def find_situation(error: BaseException | None, sqlstate: str | None) -> Situation | None:
    """The situation in which the driver raises an error with this SQLSTATE; None if the table does not have it."""
    if sqlstate is not None:
        return _BY_SQLSTATE.get(sqlstate)
    if isinstance(error, ssl.SSLError):
        return _CERTIFICATE
    if isinstance(error, ConnectionError) and _NO_TLS_OFFERED in str(error):
        return _NO_TLS
    return None


def find_file_situation(*paths: Path) -> Situation | None:
    """The situation in which a file or folder cannot be written; None if all can that exist."""
    return next((found for path in paths if (found := _find_file_situation(path)) is not None), None)


def _find_file_situation(path: Path) -> Situation | None:
    try:
        owner, system = path.stat().st_uid, os.statvfs(path)
    except OSError:
        return None
    if system.f_flag & os.ST_RDONLY:
        return Situation(
            f"{path.name} cannot be written, because its file system is read-only.",
            "Mount it for writing. The log of the kernel (dmesg) says why, if it was not always so.",
        )
    if os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        return None
    if owner != os.geteuid():
        return Situation(
            f"{path.name} cannot be written, because it belongs to another user (id {owner}) than the server's.",
            "Give the data directory to the server's user: chown -R USER DIRECTORY",
        )
    return Situation(
        f"{path.name} cannot be written, because its mode forbids it.", "Run in the data directory: chmod -R u+rwX ."
    )
