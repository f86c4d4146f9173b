"""Limits for tests of single objects."""

from flagstaff.http.limits import Limits

NO_LIMITS = Limits(
    events=None,
    sent_events=None,
    evaluate=None,
    browser=None,
    browser_reports=None,
    report=None,
    streams=None,
    unnamed_streams=None,
    register=None,
    login=None,
    login_failures=None,
    account_failures=None,
    reset=None,
    unsubscribe=None,
    api=None,
    anonymous=None,
    trusted_proxies=(),
)
