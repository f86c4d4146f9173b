"""The limits on requests, connections and sessions: a part of the settings."""

from dataclasses import dataclass
from datetime import timedelta

from flagstaff.settings import values
from flagstaff.settings.declarations import setting
from flagstaff.settings.valkey import parse_valkey_url
from flagstaff.settings.values import FetchMode, RateLimit


@dataclass(frozen=True, kw_only=True)
class RequestSettings:
    """A part of `Settings`."""

    evaluate_rate_limit: RateLimit | None = setting(
        values.parse_rate_limit,
        "200/minute",
        "Evaluations allowed from one address: a number per second, minute, hour or day, or off.",
    )
    sdk_key_rate_limit: RateLimit | None = setting(
        values.parse_rate_limit,
        "off",
        "Requests allowed with one SDK key of an environment, besides the limit on evaluations from one address.",
    )
    browser_rate_limit: RateLimit | None = setting(
        values.parse_rate_limit,
        "600/minute",
        "Requests with browser keys allowed from one address with OFREP and Unleash's protocols. Clients that "
        "fetch again what has changed have shares of their own.",
    )
    event_rate_limit: RateLimit | None = setting(
        values.parse_rate_limit,
        "20000/minute",
        "Events of metrics allowed from one address; a request is accepted whole if one more is allowed.",
    )
    report_rate_limit: RateLimit | None = setting(
        values.parse_rate_limit,
        "1200/minute",
        "Reports of applications that evaluate flags themselves allowed with one SDK key.",
    )
    unleash_fetch_mode: FetchMode = setting(
        values.choice_parser(FetchMode),
        "polling",
        "How Unleash's SDK for Node.js learns of changes unless its options say so. polling: it polls; streaming: "
        "the server tells each client once to follow the stream, with the header fetch-mode. Choose it only if "
        "every proxy in between lets streams through.",
    )
    register_rate_limit: RateLimit | None = setting(
        values.parse_rate_limit, "60/minute", "Registrations allowed from one address."
    )
    login_rate_limit: RateLimit | None = setting(
        values.parse_rate_limit, "60/minute", "Logins allowed from one address."
    )
    login_failure_rate_limit: RateLimit | None = setting(
        values.parse_rate_limit, "10/minute", "Failed logins allowed to one account from one address."
    )
    account_failure_rate_limit: RateLimit | None = setting(
        values.parse_rate_limit,
        "100/hour",
        "Failed logins allowed to one account from all addresses together. Beyond the limit, only addresses that "
        "have logged in to the account before can try.",
    )
    reset_rate_limit: RateLimit | None = setting(
        values.parse_rate_limit, "60/minute", "Password resets allowed from one address."
    )
    mail_rate_limit: RateLimit | None = setting(
        values.parse_rate_limit,
        "1000/hour",
        "Mails that are sent, of all accounts together: a number per second, minute, hour or day, or off. Invitations "
        "use half of it, and other mails three quarters, but those about guards all.",
    )
    mail_domain_rate_limit: RateLimit | None = setting(
        values.parse_rate_limit, "500/hour", "Mails that are sent to addresses of one domain, with the same parts."
    )
    session_idle_minutes: timedelta | None = setting(
        values.minutes_parser(5, 1440),
        "off",
        "After how many minutes without a request a session ends, at most six minutes late: from 5 to 1440, or "
        "off. A session ends after 24 hours in any case. A visible page of the dashboard sends requests.",
    )
    anonymous_rate_limit: RateLimit | None = setting(
        values.parse_rate_limit,
        "6000/minute",
        "Requests without a valid key or token allowed from one address, at all paths together. Probes and the "
        "dashboard's files do not count.",
    )
    valkey_url: str | None = setting(
        parse_valkey_url,
        None,
        "valkey://user:password@host:6379/0, valkeys:// for TLS, or unix:///path: the server through which several "
        "instances share the rate limits; if unset, each instance limits on its own.",
        is_secret=True,
    )
    max_connections: int = setting(
        values.whole_number_parser(1, 1_000_000),
        "10000",
        "The maximum number of open connections; lower if the limit on open files requires it.",
    )
    max_connections_per_address: int = setting(
        values.whole_number_parser(1, 1_000_000),
        "1000",
        "The maximum number of open connections from one address (for IPv6, one /64). Trusted proxies are exempt.",
    )
    api_rate_limit: RateLimit | None = setting(
        values.parse_rate_limit, "1200/minute", "Requests to /api allowed for one account."
    )
