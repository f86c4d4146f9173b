"""Reads the mails of a Flagstaff without a mail server, as their recipient would."""

import re
from collections.abc import Sequence
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path


def read_outbox(data_directory: Path) -> list[EmailMessage]:
    """The mails of the outbox folder, oldest first."""
    paths = sorted((data_directory / "outbox").glob("*.eml"))
    return [message_from_bytes(path.read_bytes(), policy=policy.default) for path in paths]


def text_of(mail: EmailMessage) -> str:
    """The text of a mail."""
    part = mail.get_body(("plain",))
    assert part is not None
    text: str = part.get_content()
    return text


def newest_to(mails: Sequence[EmailMessage], page: str) -> EmailMessage:
    """The newest mail with a link to a page. Mails about other things, written at the same time, may come after it."""
    return [each for each in mails if leads_to(each, page)][-1]


def leads_to(mail: EmailMessage, page: str) -> bool:
    """Return whether a mail has a link with a token to a page."""
    return f"/{page}?token=" in text_of(mail)


def reset_token(mail: EmailMessage, page: str = "reset-password") -> str:
    """Return the token in the link of a mail's text that leads to a page."""
    (token,) = re.findall(rf"/{page}\?token=([\w.-]+)", text_of(mail))
    return str(token)
