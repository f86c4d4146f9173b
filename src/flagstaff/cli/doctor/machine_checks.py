"""The checks of `flagstaff doctor` for the settings and the machine; they change nothing."""

import os
import resource
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from flagstaff.assembly.history import EVENTS_FOLDER, SPOOL_FOLDER
from flagstaff.cli.doctor.findings import Finding, fail, ok, warn
from flagstaff.cli.progress import spell_size
from flagstaff.database.data_directory import DataDirectory
from flagstaff.database.files import find_status
from flagstaff.database.situations import find_file_situation
from flagstaff.database.sqlite.files import list_files
from flagstaff.evaluation import loops
from flagstaff.machine.descriptors import RESERVE
from flagstaff.settings import Settings, is_loopback
from flagstaff.values.errors import Error

_LITTLE_BYTES = 100 * 1024**2
_ENOUGH_BYTES = 2 * 1024**3
_UNSPECIFIED = ("0.0.0.0", "::")  # noqa: S104 - compared with, not listened on


def check_machine(settings: Settings) -> Iterator[Finding]:
    """All checks that need no network."""
    directory = DataDirectory(settings.data_dir)
    yield _data_directory(settings.data_dir)
    yield check_files(settings.data_dir, is_sqlite=settings.database_url is None)
    yield _server(directory)
    yield from _leftovers(directory)
    yield _disk(settings.data_dir)
    yield _descriptors(settings.max_connections + RESERVE)
    yield _public_url(settings)
    yield _trusted_proxies(settings)
    yield _common_passwords(settings)
    yield _evaluation()


def _data_directory(path: Path) -> Finding:
    check = "data directory"
    try:
        status = path.stat()
    except FileNotFoundError:
        return warn(check, f"{path} does not exist", "The first start creates it. Check FLAGSTAFF_DATA_DIR.")
    except OSError as error:
        return fail(check, f"{path}: {error.strerror}", "Run this command as the user that runs the server.")
    mode = stat.S_IMODE(status.st_mode)
    if not stat.S_ISDIR(status.st_mode):
        return fail(check, f"{path} is not a folder", "Set FLAGSTAFF_DATA_DIR to a folder.")
    if situation := find_file_situation(path):
        return fail(check, situation.cause, situation.step)
    if not os.access(path, os.R_OK | os.X_OK):
        return fail(check, f"{path} cannot be read", f"Give it to the server's user: chown -R USER {path}")
    if mode & 0o077:
        return warn(check, f"{path} has mode {mode:04o}, so others can read it", f"Run: chmod 700 {path}")
    if status.st_uid != os.geteuid():
        return warn(
            check,
            f"{path} belongs to the user with the id {status.st_uid}, not to the user of this command",
            "Run this command as the user that runs the server.",
        )
    return ok(check, f"{path}, mode {mode:04o}")


def check_files(path: Path, *, is_sqlite: bool) -> Finding:
    """Whether the files of SQLite, if it is used, and the folders of what waits for the database can be written."""
    checked = list_files(path) if is_sqlite else []
    checked += [path / name for name in (SPOOL_FOLDER, EVENTS_FOLDER)]
    if situation := find_file_situation(*checked):
        return fail("files", situation.cause, situation.step)
    foreign = next((each for each in checked if _find_owner(each) not in (None, _find_owner(path))), None)
    if foreign is not None:  # root can write it, and the server's user, who has the directory, perhaps not
        said = f"{foreign.name} belongs to another user than the data directory"
        return warn("files", said, "Give the data directory to the server's user: chown -R USER DIRECTORY")
    return ok("files", "those that exist can be written")


def _find_owner(path: Path) -> int | None:
    found = find_status(path)
    return found.st_uid if found else None


def _server(directory: DataDirectory) -> Finding:
    try:
        running = directory.is_locked()
    except Error as error:
        return warn("server", error.message, "Run this command as the user that runs the server.")
    return ok("server", "a server is running on the data directory" if running else "no server is running here")


def _leftovers(directory: DataDirectory) -> Iterator[Finding]:
    """The files that take space for nothing, unless the command that makes them is running."""
    folders = directory.find_work_folders()
    try:
        if not folders or directory.is_locked():
            return
        size = sum(each.lstat().st_size for folder in folders for each in folder.rglob("*"))
    except (Error, OSError):  # said by the checks before, or deleted by a start
        return
    said = f"{', '.join(each.name for each in folders)}: {spell_size(size)}, left by commands that were killed"
    yield warn("leftovers", said, "The next start of the server deletes them.")


def _disk(path: Path) -> Finding:
    check = "disk"
    existing = next(folder for folder in (path.absolute(), *path.absolute().parents) if folder.exists())
    free = shutil.disk_usage(existing).free
    found = f"{spell_size(free)} free at {path}"
    if free < _LITTLE_BYTES:
        return fail(check, found, "Free disk space: otherwise writes are refused and evaluations are not recorded.")
    if free < _ENOUGH_BYTES:
        return warn(
            check,
            found,
            "Free disk space, or set FLAGSTAFF_HISTORY_MAX_BYTES or a lower FLAGSTAFF_HISTORY_RETENTION_DAYS.",
        )
    return ok(check, found)


def _descriptors(wanted: int) -> Finding:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)  # the server raises its soft limit to the hard one
    if hard == resource.RLIM_INFINITY:
        return ok("descriptors", "no limit")
    if hard < wanted:
        advice = (
            f"FLAGSTAFF_MAX_CONNECTIONS needs {wanted}; the server accepts fewer connections. Set LimitNOFILE=16384 in "
            "the unit or raise ulimit -Hn, or lower the setting."
        )
        return warn("descriptors", f"at most {hard}", advice)
    return ok("descriptors", f"at most {hard}")


def _public_url(settings: Settings) -> Finding:
    check, url = "public URL", settings.public_url
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host in _UNSPECIFIED:
        return fail(check, f"{url} is not an address that a browser can open", "Set FLAGSTAFF_PUBLIC_URL.")
    if is_loopback(host):
        advice = "Mails contain links to it. Set FLAGSTAFF_PUBLIC_URL to the address that people open."
        return ok(check, url) if is_loopback(settings.host) and not settings.smtp else warn(check, url, advice)
    if parts.scheme == "http":
        said = "Passwords and tokens are sent unencrypted, and browsers use HTTP/2 only with TLS."
        return warn(check, url, f"{said} Put a proxy with TLS in front: https://…")
    return ok(check, url)


def _trusted_proxies(settings: Settings) -> Finding:
    check, networks = "trusted proxies", settings.trusted_proxies
    if any(network.prefixlen == 0 for network in networks):
        return fail(check, "every address is trusted", "List only your proxies: any client can claim any address.")
    if networks:
        return ok(check, ", ".join(map(str, networks)))
    if settings.public_url.startswith("https:"):
        return warn(
            check,
            "none, but the public URL is https, which implies a proxy",
            "All clients share the proxy's rate limit. Set FLAGSTAFF_TRUSTED_PROXIES to its address.",
        )
    return ok(check, "none")


def _common_passwords(settings: Settings) -> Finding:
    check, chosen = "passwords", settings.common_passwords
    if not settings.accepts_common_passwords:
        return ok(check, f"common ones are refused (FLAGSTAFF_COMMON_PASSWORDS={chosen})")
    if not settings.is_local:
        return warn(
            check,
            "common ones are accepted, although others can reach the server",
            "Set FLAGSTAFF_COMMON_PASSWORDS=refuse: attackers try them first.",
        )
    reach = "only this machine can reach the server"
    return ok(check, f"common ones are accepted: {reach} (FLAGSTAFF_COMMON_PASSWORDS={chosen})")


def _evaluation() -> Finding:
    if loops.WHY_NOT_COMPILED is None:
        return ok("evaluation", "compiled")
    return warn(
        "evaluation",
        f"runs in Python, which takes more processor time: {loops.WHY_NOT_COMPILED}",
        "Install a C compiler and Python's headers, and install Flagstaff again; or use a wheel for this platform.",
    )
