"""The checks of `flagstaff doctor` for the secret key: its file, its loss, and the keys of the instances that serve."""

from collections.abc import Iterator

from flagstaff.cli.doctor.database_state import Examination
from flagstaff.cli.doctor.findings import Finding, fail, ok, warn
from flagstaff.cluster.secret_keys import fingerprint_of
from flagstaff.database.data_directory import DataDirectory
from flagstaff.database.situations import DIFFERENT_KEYS, LOST_KEY
from flagstaff.settings import Settings
from flagstaff.values.errors import Error

_CHECK = "secret key"
_MIN_CHARACTERS = 32


def check_secret_key(settings: Settings, found: Examination | None) -> Iterator[Finding]:
    """Look for the key, and compare it with the keys of the serving instances. None if the database cannot be used."""
    directory = DataDirectory(settings.data_dir)
    try:
        key = settings.secret_key or directory.find_secret_key()
    except Error as error:
        yield fail(_CHECK, error.message, "Run this command as the user that runs the server.")
        return
    if settings.secret_key is not None:
        yield ok(_CHECK, "set by FLAGSTAFF_SECRET_KEY")
    else:
        yield _find_in_file(directory, key, settings, found)
    if found is not None and found.key_fingerprints:
        yield _compare(key, found.key_fingerprints)


def _find_in_file(directory: DataDirectory, key: str | None, settings: Settings, found: Examination | None) -> Finding:
    mode = directory.secret_key_mode()
    if key is None or mode is None:
        if found is not None and found.needs_secret_key:
            return fail(_CHECK, LOST_KEY.cause, LOST_KEY.step)
        return warn(_CHECK, "does not exist yet", "The first start creates it. Keep it with your backups.")
    if mode & 0o077:
        return fail(_CHECK, f"the file has mode {mode:04o}, so others can read it", "Run there: chmod 600 secret-key")
    if len(key) < _MIN_CHARACTERS:
        advice = (
            "Restore it from a backup. Or stop the server, delete it, and run once: flagstaff serve --new-secret-key. "
            "Then everyone has to log in again."
        )
        return fail(_CHECK, "the file is empty or too short", advice)
    if settings.database_url is not None:
        return warn(
            _CHECK,
            "in the data directory, for this instance only",
            "If there are several instances, set FLAGSTAFF_SECRET_KEY in each.",
        )
    return ok(_CHECK, f"in the data directory, mode {mode:04o}")


def _compare(key: str | None, fingerprints: frozenset[str]) -> Finding:
    check = "secret keys"
    if len(fingerprints) > 1:
        return warn(check, DIFFERENT_KEYS.cause, DIFFERENT_KEYS.step)
    if key is not None and fingerprint_of(key) not in fingerprints:
        said = "the instances that serve have another secret key than this command"
        return warn(check, said, "Run this command with the settings of the server, and compare FLAGSTAFF_SECRET_KEY.")
    return ok(check, "the same in all instances that serve")
