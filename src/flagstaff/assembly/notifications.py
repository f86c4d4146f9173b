"""Builds the mails to members about what concerns them."""

from functools import partial

from flagstaff.assembly.foundation import Foundation, PeriodicTask
from flagstaff.mail.mailer import Mailer
from flagstaff.notifications.notifications_service import NotificationSettings
from flagstaff.notifications.notifier import FOLLOW_SECONDS, Notifier
from flagstaff.notifications.reminder import REMIND_SECONDS, Reminder
from flagstaff.notifications.unsubscribing import UNSUBSCRIBE_PAGE, UNSUBSCRIBE_PATH, UnsubscribeTokens

_SETTINGS_PAGE = "/account"


def build_notifications(foundation: Foundation, mails: Mailer) -> None:
    """Build the settings of members for mails, and what sends them."""
    tokens = UnsubscribeTokens(foundation.secret_key)
    send_digest = partial(
        mails.send_digest,
        settings_path=_SETTINGS_PAGE,
        page_path=UNSUBSCRIBE_PAGE,
        one_click_path=UNSUBSCRIBE_PATH,
    )
    what_mails_need = foundation.database, foundation.now, foundation.settings.public_url, tokens, send_digest
    notifier, reminder = Notifier(*what_mails_need), Reminder(*what_mails_need)
    foundation.services.append(NotificationSettings(foundation.database, tokens))
    # Without a purpose: an instance that sends no mails is ready.
    foundation.periodic_tasks += [
        PeriodicTask("notifications", FOLLOW_SECONDS, notifier.run_once, by_one_worker=True),
        PeriodicTask("stale-reminders", REMIND_SECONDS, reminder.remind, by_one_worker=True),
    ]
