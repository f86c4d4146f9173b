"""Bounds the mails of the whole instance, and those to one domain, whichever accounts cause them.

What is less urgent may use a part only: so no mails that strangers cause keep away one about a guard's act.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from enum import StrEnum
from time import monotonic

import structlog

from flagstaff.limits.limiter import SlidingWindow
from flagstaff.settings import RateLimit
from flagstaff.telemetry.metrics import Metrics
from flagstaff.values.emails import domain_of

log = structlog.get_logger(__name__)

_ALL = "all"
_REMEMBERED = 20_000
_LOGGED_SECONDS = 60.0


class MailKind(StrEnum):
    """The kinds of mails, the most urgent first."""

    SAFETY = "safety"
    """A release was stopped, paused or warned of, or a webhook was turned off."""
    ACCOUNT = "account"
    """A new password was asked for, or an account was changed."""
    NOTICE = "notice"
    """Others have changed something, or flags are stale."""
    INVITATION = "invitation"
    """Somebody was invited, or is to verify an address: anybody can cause it for any address."""


_SHARES = {MailKind.SAFETY: 1.0, MailKind.ACCOUNT: 0.75, MailKind.NOTICE: 0.75, MailKind.INVITATION: 0.5}
"""The share of a limit beyond which no mail of a kind is sent, whatever kinds have used it."""


class HeldBackError(Exception):
    """A mail was not sent because too many were sent before."""


class MailLimits:
    """Counts mails. `refused` counts those that were not sent, by kind."""

    def __init__(
        self, of_all: RateLimit | None, of_domain: RateLimit | None, clock: Callable[[], float] = monotonic
    ) -> None:
        """The limits on all mails, and on those to one domain; None stands for no limit."""
        self._limits = of_all, of_domain
        self._windows = [
            SlidingWindow(each.count, each.window_seconds, clock, _REMEMBERED) if each else None
            for each in self._limits
        ]
        self._clock, self._logged_at = clock, float("-inf")
        self.refused: Counter[str] = Counter(dict.fromkeys(MailKind, 0))

    @property
    def shared(self) -> Mapping[str, SlidingWindow]:
        """The windows by names, which instances have in common."""
        named = zip(("mails", "mails_to_domains"), self._windows, strict=True)
        return {name: window for name, window in named if window is not None}

    def export_metrics(self, metrics: Metrics) -> None:
        """Export the mails that were not sent."""
        metrics.add_labelled_counter("mails_refused", "Mails beyond a limit.", "kind", lambda: self.refused)

    def admit(self, email: str, kind: MailKind) -> bool:
        """Count a mail and return True, or refuse it."""
        keys = (_ALL, domain_of(email))
        for limit, window, key in zip(self._limits, self._windows, keys, strict=True):
            if limit is not None and window is not None and window.known(key) >= limit.count * _SHARES[kind]:
                self._refuse(kind, "all mails" if key == _ALL else "one domain")
                return False
        for window, key in zip(self._windows, keys, strict=True):
            if window is not None:  # one without keys is false
                window.hit(key)
        return True

    def _refuse(self, kind: MailKind, of: str) -> None:
        """Count a refused mail, and log it once in a minute: strangers can cause many."""
        self.refused[kind] += 1
        if self._clock() >= self._logged_at + _LOGGED_SECONDS:
            self._logged_at = self._clock()
            log.warning("mail_held_back", kind=kind, limit_on=of, refused=sum(self.refused.values()))
