"""Without a mail server, each mail is written to a file that the operator can open."""

import asyncio
import os
import secrets
from datetime import UTC, datetime
from pathlib import Path

import structlog

from flagstaff.mail.envelope import Mail

log = structlog.get_logger(__name__)

KEPT_MAX = 1000
"""The number of mails that the folder keeps. The oldest are deleted."""


class Outbox:
    """A folder of `.eml` files that only the server's user can read. It keeps the newest thousand."""

    def __init__(self, folder: Path) -> None:
        """Creates nothing until the first mail."""
        self._folder = folder

    async def send(self, mail: Mail) -> bool:
        """Write the mail to a new file and log its path; return False after a failure, which is logged as well."""
        try:
            path = await asyncio.to_thread(self._write, mail.content)
        except OSError:
            log.exception("mail_not_written", folder=str(self._folder))
            return False
        else:
            log.info("mail_written", path=str(path), advice="set FLAGSTAFF_SMTP_URL to send mails")
            return True

    def _write(self, content: bytes) -> Path:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._folder / f"{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}-{secrets.token_hex(4)}.eml"
        # Written under another name and then renamed, so that programs watching the folder never read a partial mail.
        draft = path.with_suffix(".draft")
        try:
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            draft.rename(path)
        finally:
            draft.unlink(missing_ok=True)
        for old in sorted(self._folder.glob("*.eml"))[:-KEPT_MAX]:  # their names begin with the time
            old.unlink(missing_ok=True)
        return path
