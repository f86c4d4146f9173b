"""Files that are to survive a power failure, what is known of a file, and whose it is."""

import os
import re
import stat
from pathlib import Path

import structlog

log = structlog.get_logger(__name__)

# What Flagstaff makes in a data directory: its databases, with those set aside, the secret key and the lock.
_FILES = re.compile(r"(flagstaff|history(-\w+)?)\.sqlite(-\w+|\.\w+)?|secret-key(\.\w+)?|server\.lock")
_FOLDERS = re.compile(r"commits|spool|events-spool|outbox|flagstaff-work-\S+")

WORK_PREFIX = "flagstaff-work-"
"""How the names of folders begin in which commands make new files. A start deletes those that killed commands left.

Nobody else's folder, such as an operator's `compact-backups`, may have such a name.
"""


def find_status(path: Path) -> os.stat_result | None:
    """The status of a file; None if there is none, or if it cannot be looked at."""
    try:
        return path.stat()
    except OSError:
        return None


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable after files were created, renamed or deleted. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def give_to_owner(folder: Path) -> None:
    """Give Flagstaff's files that root owns in a data directory to its owner, if this process is root's and it is not.

    Other files, such as the key of a certificate, stay root's. The owner could have made links, so none is followed,
    and a file with several names stays root's.
    """
    if os.geteuid() != 0 or not folder.is_dir():
        return
    owner: os.stat_result | None = None
    is_top = True
    for _, folders, files, descriptor in os.fwalk(folder.resolve()):
        owner = owner or os.fstat(descriptor)  # of the folder that is walked, whatever has its name meanwhile
        if owner.st_uid == 0:
            return
        given = [*folders, *files]
        if is_top:
            folders[:] = filter(_FOLDERS.fullmatch, folders)  # the walk goes into these only
            given, is_top = [*folders, *filter(_FILES.fullmatch, files)], False
        for name in given:
            _give(name, descriptor, owner)


def _give(name: str, folder: int, owner: os.stat_result) -> None:
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except OSError:  # a link, or deleted by the server meanwhile
        return
    try:
        found = os.fstat(descriptor)
        is_only_here = stat.S_ISDIR(found.st_mode) or (stat.S_ISREG(found.st_mode) and found.st_nlink == 1)
        if found.st_uid == 0 and is_only_here:
            os.fchown(descriptor, owner.st_uid, owner.st_gid)
    except OSError as error:  # as root without this right
        log.warning("file_not_given", file=name, error=error.strerror)
    finally:
        os.close(descriptor)
