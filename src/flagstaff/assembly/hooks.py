"""Builds webhooks, and what sends messages to them."""

from dataclasses import dataclass

from flagstaff.assembly.foundation import Foundation, PeriodicTask
from flagstaff.hooks.attempts import Attempts
from flagstaff.hooks.batches import Batches
from flagstaff.hooks.client.addresses import Reach
from flagstaff.hooks.client.lazy_client import LazyClient
from flagstaff.hooks.client.tls import Tls
from flagstaff.hooks.deliveries_service import Deliveries
from flagstaff.hooks.pace import Pace
from flagstaff.hooks.previews_service import Previews
from flagstaff.hooks.purger import Purger
from flagstaff.hooks.recorder import Recorder
from flagstaff.hooks.repeats import Repeats
from flagstaff.hooks.sender import Sender
from flagstaff.hooks.webhooks_service import Webhooks
from flagstaff.identity.second_factors.sealing import Sealer
from flagstaff.mail.mailer import Mailer
from flagstaff.values.errors import Code, Error

_TASK = "webhooks"
_PURGE_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Hooks:
    """The sender of messages, and its connections. In an instance, one worker sends."""

    foundation: Foundation
    sender: Sender
    client: LazyClient

    def start(self) -> None:
        """Begin to send. It has no purpose: an instance whose messages wait is ready."""
        if self.foundation.is_first_worker:
            self.foundation.supervisor.run(_TASK, self.sender.run)

    async def finish(self, deadline_seconds: float) -> None:
        """Begin no more deliveries; what is not recorded at the end is sent again by another process."""
        self.sender.stop()
        await self.foundation.supervisor.finish(_TASK, deadline_seconds)

    async def close(self) -> None:
        """Close the connections to receivers."""
        await self.client.close()


def build_hooks(foundation: Foundation, mails: Mailer, repeats: Repeats) -> Hooks:
    """Webhooks, and what sends messages to them."""
    settings, database, now = foundation.settings, foundation.database, foundation.now
    reach = Reach(settings.webhook_networks, settings.webhook_ports, settings.webhook_proxy)
    tls = Tls(settings.webhook_authorities, settings.webhook_client_certificate, settings.webhook_client_key)
    client, sealer = _make_client(reach, tls), Sealer(foundation.secret_key)
    purger = Purger(database, now)
    sender = Sender(
        Batches(database, now, sealer, settings.public_url),
        Attempts(now, client),
        Recorder(database, now),
        purger,
        Pace(settings.webhook_rate_limit, settings.webhook_project_rate_limit),
        foundation.supervisor,
        tell_administrator=mails.send_webhook_disabled,
    )
    if foundation.is_first_worker:
        foundation.commit_listeners.append(sender.notice_commit)
    foundation.services += [
        Webhooks(database, now, settings, sealer, reach, sender.wake),
        Deliveries(database, now, settings.public_url, sender.wake, repeats),
        Previews(database, now, reach, settings.public_url),
    ]
    foundation.periodic_tasks.append(
        PeriodicTask(
            "webhooks-purge",
            _PURGE_SECONDS,
            purger.purge,
            "deletes messages to webhooks that are too old or too many",
            by_one_worker=True,
        )
    )
    for each in (sender, purger):
        each.export_metrics(foundation.metrics)
    return Hooks(foundation, sender, client)


def _make_client(reach: Reach, tls: Tls) -> LazyClient:
    try:
        return LazyClient(reach, tls)
    except ValueError as error:
        raise Error(Code.UNAVAILABLE, f"{error}.") from None
