"""Builds the limits on requests, and what shares them with other instances or workers."""

from collections.abc import Mapping
from dataclasses import dataclass

from flagstaff.assembly.foundation import Foundation
from flagstaff.hooks.repeats import Repeats
from flagstaff.http.exports import Exports
from flagstaff.http.limits import Limits, NetworkWindows
from flagstaff.limits.exchange import Exchange
from flagstaff.limits.limiter import SlidingWindow
from flagstaff.limits.shared_limits import SharedLimits
from flagstaff.mail.mail_limits import MailLimits
from flagstaff.serving.refetches import Refetches
from flagstaff.settings import RateLimit

# The number of addresses that the limits remember; when all are full, they take about 100 MB.
_EVALUATE_KEYS, _ACCOUNT_KEYS = 200_000, 20_000
_SDK_KEYS, _CLIENTS = 20_000, 20_000
# Unleash's clients open a stream again a few times in a minute if something cuts it off. Some would do so hundreds of
# times in a second. Those that say no id of their connection are limited by key and address.
_STREAMS = RateLimit(20, 60)
_UNNAMED_STREAMS = RateLimit(1_000, 60)
# Mail programs open links for many readers from one address.
_UNSUBSCRIBE = RateLimit(300, 60)
_TASK = "shared-limits"


@dataclass(frozen=True, slots=True)
class LimitsOfRequests:
    """The limits of requests, of each SDK key, repeated messages and mails, and what shares them, if anything."""

    requests: Limits
    sdk_key: SlidingWindow | None
    repeats: Repeats
    mails: MailLimits
    shared: SharedLimits | None

    def start(self, foundation: Foundation) -> None:
        """Begin to share. It has no purpose: an instance that limits alone is ready."""
        if shared := self.shared:
            foundation.supervisor.run(_TASK, shared.run, is_working=lambda: shared.is_joined)

    async def close(self, foundation: Foundation) -> None:
        """End what `start` has begun."""
        await foundation.supervisor.finish(_TASK, 0)
        if self.shared:
            await self.shared.close()


def build_limits(foundation: Foundation) -> LimitsOfRequests:
    """The limits, as the settings want them."""
    settings = foundation.settings
    limits = Limits(
        evaluate=_window(settings.evaluate_rate_limit, _EVALUATE_KEYS),
        events=_window(settings.evaluate_rate_limit, _EVALUATE_KEYS),  # its own, so that events use up no evaluations
        sent_events=_window(settings.event_rate_limit, _EVALUATE_KEYS),
        browser=_window(settings.browser_rate_limit, _EVALUATE_KEYS),
        browser_reports=_window(settings.browser_rate_limit, _EVALUATE_KEYS),
        report=_window(settings.report_rate_limit, _SDK_KEYS),
        streams=_window(_STREAMS, _CLIENTS),
        unnamed_streams=_window(_UNNAMED_STREAMS, _CLIENTS),
        register=_network_windows(settings.register_rate_limit),
        login=_network_windows(settings.login_rate_limit),
        login_failures=_window(settings.login_failure_rate_limit, _ACCOUNT_KEYS),
        account_failures=_window(settings.account_failure_rate_limit, _ACCOUNT_KEYS),
        reset=_network_windows(settings.reset_rate_limit),
        unsubscribe=_network_windows(_UNSUBSCRIBE),
        api=_window(settings.api_rate_limit, _ACCOUNT_KEYS),
        anonymous=_network_windows(settings.anonymous_rate_limit),
        trusted_proxies=settings.trusted_proxies,
    )
    sdk_key = _window(settings.sdk_key_rate_limit, _SDK_KEYS)
    refetches = Refetches(settings.browser_rate_limit, foundation.secret_key, capacity=_EVALUATE_KEYS)
    repeats, mails = Repeats(), MailLimits(settings.mail_rate_limit, settings.mail_domain_rate_limit)
    for each in (repeats, mails):
        each.export_metrics(foundation.metrics)
    windows = {**limits.shared(), **refetches.shared, **repeats.shared, **mails.shared}
    if sdk_key is not None:
        windows["sdk_key"] = sdk_key
    shared = _share(foundation, windows)
    exports = Exports()
    exports.export_metrics(foundation.metrics)
    foundation.services += limits, refetches, exports
    if shared:
        shared.export_metrics(foundation.metrics)
    return LimitsOfRequests(limits, sdk_key, repeats, mails, shared)


def _share(foundation: Foundation, windows: Mapping[str, SlidingWindow]) -> SharedLimits | None:
    """Share the limits through Valkey, or with the other workers only; None without either."""
    exchange: Exchange
    if foundation.settings.valkey_url is not None:
        from flagstaff.limits.valkey import ValkeyExchange  # noqa: PLC0415 -- 3 MB, only where the settings ask for it

        exchange = ValkeyExchange(foundation.settings.valkey_url, foundation.secret_key)
    elif foundation.worker is not None:
        exchange = foundation.worker.board.limits.exchange(foundation.worker.slot)
    else:
        return None
    return SharedLimits(windows, exchange, foundation.secret_key)


def _window(limit: RateLimit | None, capacity: int) -> SlidingWindow | None:
    return SlidingWindow(limit.count, limit.window_seconds, capacity=capacity) if limit else None


def _network_windows(limit: RateLimit | None) -> NetworkWindows | None:
    return NetworkWindows(limit.count, limit.window_seconds, capacity=_ACCOUNT_KEYS) if limit else None
