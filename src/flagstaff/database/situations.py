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
LOST_KEY = Situation(
    "The secret key is lost: its file secret-key is not in the data directory, although the database has accounts or "
    "webhooks that need it.",
    "Put the file back from a backup, or set FLAGSTAFF_SECRET_KEY to the key that was used before. Without it, run "
    "once: flagstaff serve --new-secret-key. Then everyone has to log in again, and authenticator apps and the secrets "
    "of webhooks have to be set up anew.",
)
OTHER_KEY = Situation(
    "The file secret-key in the data directory cannot be read, or does not have the key with which the server runs.",
    "Put the former file back before the next start, after which everyone would have to log in again.",
)
DIFFERENT_KEYS = Situation(
    "Instances on this database have different secret keys, so a session from one of them is refused by another.",
    "Set FLAGSTAFF_SECRET_KEY to the same key in all of them, and restart them.",
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
_FULL_BYTES = 16 * 1024  # what a commit writes at least


def full_disk(name: str) -> Situation:
    """The situation in which a file, a folder or a database cannot grow."""
    return Situation(f"{name} cannot be written because its disk is full.", "Free space on the disk, and try again.")


def _read_only_files(name: str) -> Situation:
    return Situation(
        f"{name} cannot be written, because its file system is read-only.",
        "Mount it for writing. The log of the kernel (dmesg) says why, if it was not always so.",
    )


def _foreign_file(name: str, owner: object) -> Situation:
    return Situation(
        f"{name} cannot be written, because it belongs to another user (id {owner}) than the server's.",
        "Give the data directory to the server's user: chown -R USER DIRECTORY",
    )


def _forbidden_file(name: str) -> Situation:
    return Situation(
        f"{name} cannot be written, because its mode forbids it.", "Run in the data directory: chmod -R u+rwX ."
    )


def list_situations() -> tuple[Situation, ...]:
    """Every situation of the table, with “…” for what differs."""
    of_files = (_foreign_file("…", "…"), _forbidden_file("…"), _read_only_files("…"), full_disk("…"))
    of_keys = (LOST_KEY, OTHER_KEY, DIFFERENT_KEYS)
    return (*_BY_SQLSTATE.values(), _NO_TLS, _CERTIFICATE, *of_files, *of_keys)


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
    """Where several apply, the one that has to be ended first."""
    try:
        owner, system = path.stat().st_uid, os.statvfs(path)
    except OSError:
        return None
    if system.f_flag & os.ST_RDONLY:
        return _read_only_files(path.name)
    if not os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        return _forbidden_file(path.name) if owner == os.geteuid() else _foreign_file(path.name, owner)
    free = (system.f_bfree if os.geteuid() == 0 else system.f_bavail) * system.f_frsize
    is_counted = system.f_blocks > 0  # some file systems, such as those in user space, do not say what they hold
    return full_disk(path.name) if is_counted and free < _FULL_BYTES else None
