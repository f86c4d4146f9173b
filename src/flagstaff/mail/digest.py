"""The mail that tells a member what has changed, with the link that stops such mails (RFC 8058)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from flagstaff.mail.envelope import Mail, enclose, escape

_TEXT = """\
Hello,

{intro}

{entries}
{reason}
Choose which mails you get: {settings}
Stop the mails about this project: {stop}
"""

_HTML = """\
<p>Hello,</p>
<p>{intro}</p>
<ul style="padding-left: 20px">
{entries}</ul>
<p style="font-size: 14px">{reason}<br>
<a href="{settings}" style="color: inherit">Choose which mails you get</a> &middot;
<a href="{stop}" style="color: inherit">Stop the mails about this project</a></p>
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a mail: what has happened, more about it, when, and the page that shows it."""

    what: str
    more: str
    at: datetime | None
    link: str


@dataclass(frozen=True, slots=True)
class Digest:
    """The content of a mail. `subject` is ASCII, and `more` the number of entries that are left out.

    `reason` is a sentence that says why its reader gets it. `unsubscribe_token` is in the link that stops it.
    """

    subject: str
    intro: str
    entries: Sequence[Entry]
    more: int
    reason: str
    unsubscribe_token: str
    is_urgent: bool = False


def write_digest(
    digest: Digest,
    *,
    sender: str,
    recipient: str,
    public_url: str,
    settings_path: str,
    page_path: str,
    one_click_path: str,
    sent_at: datetime,
) -> Mail:
    """The mail; the arguments are as in `message.password_reset`, and paths of the dashboard and of the API.

    `settings_path` is where its reader chooses mails, `page_path` the page that asks before it stops them, and
    `one_click_path` where mail programs send the POST that does so at once.

    Raises:
        ValueError: no mail can be sent to the recipient.
    """
    settings = f"{public_url}{settings_path}"
    stop = f"{public_url}{page_path}?token={digest.unsubscribe_token}"
    one_click = f"{public_url}{one_click_path}?token={digest.unsubscribe_token}"
    text = _TEXT.format(
        intro=digest.intro,
        entries="".join(map(_in_text, digest.entries)) + _more(digest.more, "{}\n\n"),
        reason=digest.reason,
        settings=settings,
        stop=stop,
    )
    html = _HTML.format(
        intro=escape(digest.intro),
        entries="".join(map(_in_html, digest.entries)) + _more(digest.more, "<li>{}</li>\n"),
        reason=escape(digest.reason),
        settings=escape(settings),
        stop=escape(stop),
    )
    headers = {"List-Unsubscribe": f"<{one_click}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}
    subject = f"[Flagstaff] {digest.subject}"
    return enclose(sender, recipient, subject, text, html, sent_at=sent_at, headers=headers)


def _more(count: int, form: str) -> str:
    return form.format(f"and {count} more") if count else ""


def _details(entry: Entry) -> str:
    return f"{entry.more}, {entry.at:%Y-%m-%d %H:%M} UTC" if entry.at else entry.more


def _in_text(entry: Entry) -> str:
    return f"- {entry.what}\n  {_details(entry)}\n  {entry.link}\n\n"


def _in_html(entry: Entry) -> str:
    link = f'<a href="{escape(entry.link)}" style="color: inherit; font-weight: 600">{escape(entry.what)}</a>'
    return f'<li style="margin: 12px 0">{link}<br>\n{escape(_details(entry))}</li>\n'
