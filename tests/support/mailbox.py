"""Reads the mails of a Flagstaff without a mail server, as their recipient would."""

import re
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path


def read_outbox(data_directory: Path) -> list[EmailMessage]:
    """The mails of the outbox folder, oldest first."""
    paths = sorted((data_directory / "outbox").glob("*.eml"))
    return [message_from_bytes(path.read_bytes(), policy=policy.default) for path in paths]


def leads_to(mail: EmailMessage, page: str) -> bool:
    """Return whether a mail has a link with a token to a page."""
    text = mail.get_body(("plain",))
    return text is not None and f"/{page}?token=" in text.get_content()


def reset_token(mail: EmailMessage, page: str = "reset-password") -> str:
    """Return the token in the link of a mail's text that leads to a page."""
    text = mail.get_body(("plain",))
    assert text is not None
    (token,) = re.findall(rf"/{page}\?token=([\w.-]+)", text.get_content())
    return str(token)
