"""Encloses a text and its HTML in a mail, which contains only ASCII, so that no encoding breaks a link.

A mail is checked in the form in which it is sent: parsing it must give exactly the headers that were set.
The libraries for this take 2 MB and are loaded for the first mail, in the thread that writes it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import uuid4

from flagstaff.values.emails import check_email, domain_of

if TYPE_CHECKING:
    from email.headerregistry import Address

_HEADERS = ("From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted", "MIME-Version", "Content-Type")
_BARE_LINE_BREAK = re.compile(rb"\r(?!\n)|(?<!\r)\n")
# Inline styles, because mail programs drop others.
_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>{subject}</title>
</head>
<body style="margin: 0; padding: 24px; font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', sans-serif">
<div style="max-width: 520px; margin: 0 auto">
{content}</div>
</body>
</html>
"""
_LINE_MAX = 998  # the library would fold a long link in a header in a way that few programs read


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail to be sent, with its sender and recipient, so that transports need not parse `content`."""

    sender: str
    recipient: str
    content: bytes


def enclose(
    sender: str,
    recipient: str,
    subject: str,
    text: str,
    content: str,
    *,
    sent_at: datetime,
    headers: Mapping[str, str] | None = None,
) -> Mail:
    """A mail with a text, and with a page that has `content`, which is HTML.

    `subject` and `headers` are ASCII; other characters of the contents are encoded.

    Raises:
        ValueError: no mail can be sent to the recipient; the message does not contain the address.
    """
    from email.message import EmailMessage  # noqa: PLC0415 -- see above
    from email.policy import SMTPUTF8  # noqa: PLC0415 -- see above

    message = EmailMessage(policy=SMTPUTF8.clone(max_line_length=_LINE_MAX))
    message["From"] = sender
    message["To"] = to = _address(recipient)
    message["Subject"] = subject
    message["Date"] = sent_at
    mailbox = message["From"].addresses[0]
    message["Message-ID"] = f"<{uuid4()}@{mailbox.domain}>"
    message["Auto-Submitted"] = "auto-generated"
    for name, value in (headers or {}).items():
        message[name] = value
    html = _PAGE.format(subject=escape(subject), content=content)
    is_ascii = text.isascii() and html.isascii()
    charset, encoding = ("us-ascii", "7bit") if is_ascii else ("utf-8", "quoted-printable")
    message.set_content(text, charset=charset, cte=encoding)
    message.add_alternative(html, subtype="html", charset=charset, cte=encoding)
    message.set_boundary(str(uuid4()))  # the library would draw from the process's shared generator, in this thread
    mail = Mail(mailbox.addr_spec, to.addr_spec, bytes(message))
    _check(mail, subject, (*_HEADERS, *(headers or ())))
    return mail


def escape(text: str) -> str:
    """The text as a page contains it, in its content or in the value of an attribute."""
    import html  # noqa: PLC0415 -- see above

    return html.escape(text)


def _address(recipient: str) -> "Address":
    """The recipient as one mailbox. Accounts may be older than the current rules for addresses."""
    from email.headerregistry import Address  # noqa: PLC0415 -- see above

    try:
        email = check_email(recipient)
    except ValueError:
        raise _undeliverable() from None
    return Address(username=email.rpartition("@")[0], domain=domain_of(email))


def _check(mail: Mail, subject: str, names: tuple[str, ...]) -> None:
    """Refuse a mail that parses to other headers than were set, such as headers injected by an address."""
    from email import message_from_string  # noqa: PLC0415 -- see above
    from email.policy import SMTPUTF8  # noqa: PLC0415 -- see above

    read = message_from_string(mail.content.decode(), policy=SMTPUTF8)
    headers_are_ours = sorted(read.keys()) == sorted(names) and read["Subject"] == subject
    if (
        not headers_are_ours
        or _BARE_LINE_BREAK.search(mail.content)
        or [each.addr_spec for each in read["To"].addresses] != [mail.recipient]
        or [each.addr_spec for each in read["From"].addresses] != [mail.sender]
    ):
        raise _undeliverable()


def _undeliverable() -> ValueError:
    return ValueError("no mail can be sent to this address")
