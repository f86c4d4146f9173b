"""Mails that are written to files when there is no mail server."""

import asyncio
import stat
from datetime import UTC, datetime
from email import message_from_bytes
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from flagstaff.mail.envelope import Mail
from flagstaff.mail.outbox import Outbox
from flagstaff.mail.transactional_mails import password_reset


@pytest.fixture
def mail() -> Mail:
    return password_reset(
        sender="Flagstaff <flags@example.com>",
        recipient="ada@example.com",
        public_url="http://127.0.0.1:8000",
        token="hunter2",
        sent_at=datetime.now(UTC),
    )


async def test_a_folder_that_cannot_be_written_is_logged(tmp_path: Path, mail: Mail) -> None:
    (tmp_path / "outbox").write_text("a file in the way")
    with capture_logs() as entries:
        await Outbox(tmp_path / "outbox").send(mail)
    assert [(entry["event"], entry["log_level"]) for entry in entries] == [("mail_not_written", "error")]
    assert "hunter2" not in str(entries)


async def test_each_mail_becomes_a_file_and_the_log_says_where(tmp_path: Path, mail: Mail) -> None:
    with capture_logs() as entries:
        await Outbox(tmp_path / "outbox").send(mail)
    (path,) = (tmp_path / "outbox").iterdir()
    assert path.suffix == ".eml"
    assert message_from_bytes(path.read_bytes())["To"] == "ada@example.com"
    assert b"http://127.0.0.1:8000/reset-password?token=hunter2" in path.read_bytes()
    assert [(entry["event"], entry["path"]) for entry in entries] == [("mail_written", str(path))]
    assert "hunter2" not in str(entries)


async def test_only_the_owner_can_read_the_mails(tmp_path: Path, mail: Mail) -> None:
    await Outbox(tmp_path / "outbox").send(mail)
    (path,) = (tmp_path / "outbox").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


async def test_mails_written_at_once_do_not_overwrite_each_other(tmp_path: Path, mail: Mail) -> None:
    outbox = Outbox(tmp_path / "outbox")
    await asyncio.gather(*(outbox.send(mail) for _ in range(20)))
    files = list((tmp_path / "outbox").iterdir())
    assert len(files) == 20
    assert all(path.suffix == ".eml" and path.stat().st_size for path in files)
