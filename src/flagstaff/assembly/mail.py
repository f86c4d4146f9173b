"""Builds what sends mail: through SMTP, or into a folder."""

from collections.abc import Awaitable, Callable

from flagstaff.assembly.foundation import Foundation
from flagstaff.mail.envelope import Mail
from flagstaff.mail.mail_limits import MailLimits
from flagstaff.mail.mailer import Mailer
from flagstaff.mail.outbox import Outbox

_OUTBOX_FOLDER = "outbox"


def build_mails(foundation: Foundation, limits: MailLimits) -> Mailer:
    """Build the sender of mails."""
    settings = foundation.settings
    return Mailer(_sender(foundation), settings.mail_from, settings.public_url, limits)


def _sender(foundation: Foundation) -> Callable[[Mail], Awaitable[bool]]:
    smtp, tracing = foundation.settings.smtp, foundation.tracing
    if smtp is None:
        return Outbox(foundation.settings.data_dir / _OUTBOX_FOLDER).send
    from flagstaff.mail.smtp import SmtpMailer  # noqa: PLC0415 -- 2 MB, only where the settings ask for it

    send = SmtpMailer(smtp).send
    if tracing is None:
        return send
    return tracing.call("send mail", {"server.address": smtp.host, "server.port": smtp.port}, send)
