"""What the mails say. Text and HTML say the same, in plain ASCII: no encoding may break a link."""

import re
from datetime import datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTPUTF8
from email.utils import make_msgid
from html import escape
from urllib.parse import quote

from flagstaff.domain.accounts import RESET_LIFETIME

_DOMAIN = re.compile(r"[\w.-]+|\[[0-9A-Fa-f.:]+\]")

_RESET_TEXT = """\
Hello,

someone asked for a new password for your Flagstaff account at
{public_url}

To choose one, open this link:

{link}

It works once, and only for {minutes} minutes.

If it wasn't you, ignore this mail. Your password stays as it is.
"""

# Inline styles, for mail programs drop the others; no colour but the button's, so that dark modes stay readable.
_RESET_HTML = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>Reset your Flagstaff password</title>
</head>
<body style="margin: 0; padding: 24px; font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', sans-serif">
<div style="max-width: 520px; margin: 0 auto">
<p>Hello,</p>
<p>someone asked for a new password for your Flagstaff account at
<a href="{public_url}" style="color: inherit">{public_url}</a>.</p>
<p style="margin: 28px 0"><a href="{link}" style="display: inline-block; padding: 12px 22px; border-radius: 6px;
background: #1d4ed8; color: #ffffff; font-weight: 600; text-decoration: none">Choose a new password</a></p>
<p>The button works once, and only for {minutes} minutes. If it does nothing, open this link:<br>
<a href="{link}" style="color: inherit; word-break: break-all">{link}</a></p>
<p>If it wasn't you, ignore this mail. Your password stays as it is.</p>
</div>
</body>
</html>
"""


def password_reset(*, sender: str, recipient: str, public_url: str, token: str, sent_at: datetime) -> EmailMessage:
    """The mail with the link that resets a password.

    Args:
        sender: One mailbox as a From header spells it.
        recipient: The account's address.
        public_url: The dashboard's ASCII address, without a slash at its end.
        token: What makes the link work.
        sent_at: The present moment, with a time zone.

    Raises:
        ValueError: no mail can be sent to the recipient; the text does not repeat the address.
    """
    message = EmailMessage(policy=SMTPUTF8)
    message["From"] = sender
    message["To"] = _address(recipient)
    message["Subject"] = "Reset your Flagstaff password"
    message["Date"] = sent_at
    message["Message-ID"] = make_msgid(domain=message["From"].addresses[0].domain)
    message["Auto-Submitted"] = "auto-generated"
    link = f"{public_url}/reset-password?token={quote(token, safe='')}"
    minutes = RESET_LIFETIME.seconds // 60
    text = _RESET_TEXT.format(public_url=public_url, link=link, minutes=minutes)
    html = _RESET_HTML.format(public_url=escape(public_url), link=escape(link), minutes=minutes)
    message.set_content(text, charset="us-ascii", cte="7bit")
    message.add_alternative(html, subtype="html", charset="us-ascii", cte="7bit")
    return message


def _address(recipient: str) -> Address:
    """The recipient as one mailbox, whatever commas, quotes or brackets it holds."""
    local, _, domain = recipient.rpartition("@")
    if not local or not local.isprintable() or not _DOMAIN.fullmatch(domain):
        raise ValueError("no mail can be sent to this address")
    try:
        return Address(username=local, domain=domain.encode("idna").decode())
    except UnicodeError:
        raise ValueError("no mail can be sent to this address") from None
