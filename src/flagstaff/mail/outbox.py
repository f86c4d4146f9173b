"""The mails of a Flagstaff without a mail server: each becomes a file that its operator can open."""

import asyncio
import os
import secrets
from datetime import UTC, datetime
from pathlib import Path

import structlog

from flagstaff.mail.message import Mail

log = structlog.get_logger(__name__)


class Outbox:
    """A folder of `.eml` files, which nobody but the server's own user may read."""

    def __init__(self, folder: Path) -> None:
        """Nothing is made before the first mail."""
        self._folder = folder

    async def send(self, mail: Mail) -> None:
        """Write the mail to a new file and say in the log where; a failure is logged as well."""
        try:
            path = await asyncio.to_thread(self._write, mail.content)
        except OSError:
            log.exception("mail_not_written", folder=str(self._folder))
        else:
            log.info("mail_written", path=str(path), advice="set FLAGSTAFF_SMTP_URL to have mails sent")

    def _write(self, content: bytes) -> Path:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._folder / f"{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}-{secrets.token_hex(4)}.eml"
        # Written beside and moved into place: who watches the folder never reads half a mail.
        draft = path.with_suffix(".draft")
        try:
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            draft.rename(path)
        finally:
            draft.unlink(missing_ok=True)
        return path
