"""The mails about accounts, invitations, tokens and webhooks. Text and HTML have the same content."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from urllib.parse import quote

from flagstaff.identity.accounts.accounts import RESET_LIFETIME, VERIFICATION_LIFETIME
from flagstaff.identity.accounts.owner_warnings import Warned
from flagstaff.mail.envelope import Mail, enclose, escape
from flagstaff.projects.members.invitations import INVITATION_LIFETIME
from flagstaff.values.emails import is_plain_address

_RESET_TEXT = """\
Hello,

someone asked for a new password for your Flagstaff account at
{public_url}

To choose one, open this link:

{link}

It works once, and only for {minutes} minutes.

If it wasn't you, ignore this mail. Your password stays as it is.
"""

# Only the button has a colour, so that dark modes stay readable.
_RESET_HTML = """\
<p>Hello,</p>
<p>someone asked for a new password for your Flagstaff account at
<a href="{public_url}" style="color: inherit">{public_url}</a>.</p>
<p style="margin: 28px 0"><a href="{link}" style="display: inline-block; padding: 12px 22px; border-radius: 6px;
background: #1d4ed8; color: #ffffff; font-weight: 600; text-decoration: none">Choose a new password</a></p>
<p>The button works once, and only for {minutes} minutes. If it does nothing, open this link:<br>
<a href="{link}" style="color: inherit; word-break: break-all">{link}</a></p>
<p>If it wasn't you, ignore this mail. Your password stays as it is.</p>
"""

_VERIFICATION_TEXT = """\
Hello,

an account with this address asks for mails from Flagstaff at
{public_url}

If it is yours, open this link, and you will get the mails that are chosen in
the account:

{link}

It works for {hours} hours.

If it isn't yours, ignore this mail. You will get no others.
"""

_VERIFICATION_HTML = """\
<p>Hello,</p>
<p>an account with this address asks for mails from Flagstaff at
<a href="{public_url}" style="color: inherit">{public_url}</a>.</p>
<p>If it is yours, verify the address, and you will get the mails that are chosen in the account.</p>
<p style="margin: 28px 0"><a href="{link}" style="display: inline-block; padding: 12px 22px; border-radius: 6px;
background: #1d4ed8; color: #ffffff; font-weight: 600; text-decoration: none">Verify the address</a></p>
<p>The button works for {hours} hours. If it does nothing, open this link:<br>
<a href="{link}" style="color: inherit; word-break: break-all">{link}</a></p>
<p>If it isn't yours, ignore this mail. You will get no others.</p>
"""

_INVITATION_TEXT = """\
Hello,

{inviter} has invited you to join a project on Flagstaff at
{public_url}

The link shows which project it is. To accept, open this link:

{link}

It works once, and only for {days} days. If you have no account yet, register
with this address.

If you do not expect an invitation, ignore this mail.
"""

_INVITATION_HTML = """\
<p>Hello,</p>
<p>{inviter} has invited you to join a project on Flagstaff at
<a href="{public_url}" style="color: inherit">{public_url}</a>.</p>
<p>The page that the button opens shows which project it is.</p>
<p style="margin: 28px 0"><a href="{link}" style="display: inline-block; padding: 12px 22px; border-radius: 6px;
background: #1d4ed8; color: #ffffff; font-weight: 600; text-decoration: none">Accept the invitation</a></p>
<p>The button works once, and only for {days} days. If you have no account yet, register with this
address. If it does nothing, open this link:<br>
<a href="{link}" style="color: inherit; word-break: break-all">{link}</a></p>
<p>If you do not expect an invitation, ignore this mail.</p>
"""

_CREATED_TEXT = """\
Hello,

an access token has been created for your Flagstaff account at
{public_url}

With it, a program can do in your name what the token allows. This page lists
your tokens:

{link}

If it was you, there is nothing to do. If it wasn't, revoke the token there,
and set a new password.
"""

_CREATED_HTML = """\
<p>Hello,</p>
<p>an access token has been created for your Flagstaff account at
<a href="{public_url}" style="color: inherit">{public_url}</a>.</p>
<p>With it, a program can do in your name what the token allows. This page lists your tokens:<br>
<a href="{link}" style="color: inherit; word-break: break-all">{link}</a></p>
<p>If it was you, there is nothing to do. If it wasn't, revoke the token there, and set a new password.</p>
"""

_WARNING_TEXT = """\
Hello,

{event} at
{public_url}

If it was you, there is nothing to do. If it wasn't, set a new password, and
look at the sessions and the second factors of your account, on this page:

{link}
"""

_WARNING_HTML = """\
<p>Hello,</p>
<p>{event} at
<a href="{public_url}" style="color: inherit">{public_url}</a>.</p>
<p>If it was you, there is nothing to do. If it wasn't, set a new password, and look at the sessions and the second
factors of your account, on this page:<br>
<a href="{link}" style="color: inherit; word-break: break-all">{link}</a></p>
"""

_WARNINGS: Mapping[Warned, tuple[str, str]] = {
    Warned.PASSWORD_CHANGED: (
        "Your Flagstaff password was changed",
        "the password of your Flagstaff account was changed",
    ),
    Warned.PASSWORD_RESET: (
        "Your Flagstaff password was reset",
        "the password of your Flagstaff account was reset with a link from a mail",
    ),
    Warned.APP_ADDED: (
        "An authenticator app was added to your Flagstaff account",
        "an authenticator app was added to your Flagstaff account",
    ),
    Warned.APP_REMOVED: (
        "The authenticator app was removed from your Flagstaff account",
        "the authenticator app was removed from your Flagstaff account",
    ),
    Warned.PASSKEY_ADDED: (
        "A passkey was added to your Flagstaff account",
        "a passkey was added to your Flagstaff account",
    ),
    Warned.PASSKEY_REMOVED: (
        "A passkey was removed from your Flagstaff account",
        "a passkey was removed from your Flagstaff account",
    ),
    Warned.RECOVERY_CODE_USED: (
        "A recovery code of your Flagstaff account was used",
        "a recovery code was used to sign in to your Flagstaff account",
    ),
    Warned.RECOVERY_CODES_RENEWED: (
        "Your Flagstaff account has new recovery codes",
        "new recovery codes were created for your Flagstaff account",
    ),
}
"""The subject and the first words of the mail about each event."""


_DISABLED_TEXT = """\
Hello,

a webhook of the instance has been turned off on Flagstaff at
{public_url}

{why}:

{host}

{remedy}:

{link}
"""

_DISABLED_HTML = """\
<p>Hello,</p>
<p>a webhook of the instance has been turned off on Flagstaff at
<a href="{public_url}" style="color: inherit">{public_url}</a>.</p>
<p>{why}: {host}</p>
<p>{remedy}:<br>
<a href="{link}" style="color: inherit; word-break: break-all">{link}</a></p>
"""

_FAILED = (
    """\
Its receiver has not accepted messages, although they were sent repeatedly,
or has reported that it is gone for good""",
    """\
This page shows the last responses. When the receiver works again, turn the
webhook on there, and the waiting messages are sent""",
)
_WITHOUT_OWNER = (
    "Its owner, who created it or changed it last, is not an administrator any\nmore. It sends to",
    "If it is still needed, turn it on there. Then you are its owner, and the\nwaiting messages are sent",
)


def password_reset(*, sender: str, recipient: str, public_url: str, token: str, sent_at: datetime) -> Mail:
    """The mail with the link that resets a password.

    Args:
        sender: One mailbox as a From header spells it.
        recipient: The account's address.
        public_url: The dashboard's ASCII address, without a slash at its end.
        token: The reset token that the link contains.
        sent_at: The current time, with a time zone.

    Raises:
        ValueError: no mail can be sent to the recipient; the message does not contain the address.
    """
    link = f"{public_url}/reset-password?token={quote(token, safe='')}"
    values: dict[str, str | int] = {"public_url": public_url, "link": link, "minutes": RESET_LIFETIME.seconds // 60}
    return _compose(
        sender, recipient, "Reset your Flagstaff password", _RESET_TEXT, _RESET_HTML, values, sent_at=sent_at
    )


def verification(*, sender: str, recipient: str, public_url: str, token: str, sent_at: datetime) -> Mail:
    """The mail with the link that verifies an address; arguments and errors are as in `password_reset`."""
    link = f"{public_url}/verify-email?token={quote(token, safe='')}"
    hours = VERIFICATION_LIFETIME // timedelta(hours=1)
    values: dict[str, str | int] = {"public_url": public_url, "link": link, "hours": hours}
    subject = "Verify the address of your Flagstaff account"
    return _compose(sender, recipient, subject, _VERIFICATION_TEXT, _VERIFICATION_HTML, values, sent_at=sent_at)


def invitation(*, sender: str, recipient: str, public_url: str, token: str, inviter: str, sent_at: datetime) -> Mail:
    """The mail with the link that accepts an invitation; other arguments and errors are as in `password_reset`.

    It contains nothing that the inviter has written, such as the project's name, so that nobody can send messages of
    their own with it. An `inviter` whose address could be read as more than one is "A member".
    """
    who = inviter if is_plain_address(inviter) else "A member"
    link = f"{public_url}/invitation?token={quote(token, safe='')}"
    days = INVITATION_LIFETIME.days
    values: dict[str, str | int] = {"public_url": public_url, "link": link, "days": days, "inviter": who}
    subject = "You are invited to a project on Flagstaff"
    return _compose(sender, recipient, subject, _INVITATION_TEXT, _INVITATION_HTML, values, sent_at=sent_at)


def token_created(*, sender: str, recipient: str, public_url: str, page: str, sent_at: datetime) -> Mail:
    """The mail that tells of a new access token; other arguments and errors are as in `password_reset`.

    It contains no name, which whoever has made the token has written. `page` is the path of the page that lists it.
    """
    values: dict[str, str | int] = {"public_url": public_url, "link": f"{public_url}{page}"}
    subject = "A new access token for your Flagstaff account"
    return _compose(sender, recipient, subject, _CREATED_TEXT, _CREATED_HTML, values, sent_at=sent_at)


def owner_warning(*, sender: str, recipient: str, public_url: str, warned: str, sent_at: datetime) -> Mail:
    """The mail that tells of a `Warned`; other arguments and errors are as in `password_reset`."""
    subject, event = _WARNINGS[Warned(warned)]
    values: dict[str, str | int] = {"public_url": public_url, "link": f"{public_url}/account", "event": event}
    return _compose(sender, recipient, subject, _WARNING_TEXT, _WARNING_HTML, values, sent_at=sent_at)


def webhook_disabled(
    *, sender: str, recipient: str, public_url: str, host: str, page: str, reason: str, sent_at: datetime
) -> Mail:
    """The mail that tells of a webhook that was switched off; other arguments and errors are as in `password_reset`.

    `host` is the receiver's, in ASCII, and `page` the path of the webhook's page. `reason` is the webhook's, such as
    `failed` or `no_owner`.
    """
    why, remedy = _WITHOUT_OWNER if reason == "no_owner" else _FAILED
    values: dict[str, str | int] = {
        "public_url": public_url,
        "link": f"{public_url}{page}",
        "host": host,
        "why": why,
        "remedy": remedy,
    }
    subject = "A webhook has been turned off on Flagstaff"
    return _compose(sender, recipient, subject, _DISABLED_TEXT, _DISABLED_HTML, values, sent_at=sent_at)


def _compose(
    sender: str,
    recipient: str,
    subject: str,
    text: str,
    html: str,
    values: Mapping[str, str | int],
    *,
    sent_at: datetime,
) -> Mail:
    escaped = {name: escape(str(value)) for name, value in values.items()}
    return enclose(sender, recipient, subject, text.format(**values), html.format(**escaped), sent_at=sent_at)
