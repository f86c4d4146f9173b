"""Repeating messages has its limits, of a webhook and of an account, and the records of messages are bounded."""

from uuid import UUID, uuid4

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from flagstaff.hooks.repeats import Repeats
from flagstaff.values.errors import Code, Error
from tests.support.api import Caller, Json, flag_path
from tests.support.jobs import do_now
from tests.support.receiver import Receiver, response
from tests.web.webhooks.conftest import Hook, deliveries, hook_path, settle

EVER = {"from": "2000-01-01T00:00:00Z", "to": "2100-01-01T00:00:00Z"}


@pytest.fixture
def repeats(flagstaff: Flagstaff) -> Repeats:
    """The limits of the server, of three messages of a webhook and five of an account."""
    lower = Repeats(of_webhook=3, of_account=5)
    found = flagstaff.limits.repeats
    found._bounds, found._windows = lower._bounds, lower._windows
    return found


async def toggled(flagstaff: Flagstaff, ada: Caller, project: Json, times: int) -> None:
    flag = await ada.create_flag(await ada.get_environment(project))
    for _ in range(times):
        (await ada.post(f"{flag_path(flag)}/toggle")).raise_for_status()
    await settle(flagstaff)


async def test_a_webhook_repeats_so_many_messages_in_an_hour_and_refuses_the_next(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook, receiver: Receiver, repeats: Repeats
) -> None:
    webhook = await hook(events=["flag.toggled"])
    await toggled(flagstaff, ada, project, 4)
    assert (await ada.post(f"{hook_path(webhook)}/test")).status_code == 202
    repeated = await ada.post(f"{hook_path(webhook)}/repeat", json=EVER)
    assert repeated.json() == {"repeated": 2}  # the oldest: there is no room for more
    await settle(flagstaff)
    count = len(receiver.messages)
    newest = (await deliveries(ada, webhook))[0]
    for path in ("repeat", "test", f"deliveries/{newest['id']}/repeat"):
        refused = await ada.post(f"{hook_path(webhook)}/{path}", json=EVER if path == "repeat" else None)
        assert refused.status_code == 429
        assert 0 < int(refused.headers["retry-after"]) <= 3600
    await settle(flagstaff)
    assert len(receiver.messages) == count == 4 + 1 + 2
    assert repeats.refused == 3


async def test_an_account_repeats_so_many_messages_of_all_webhooks_in_an_hour(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook, repeats: Repeats
) -> None:
    first, second = await hook(events=["flag.toggled"]), await hook(events=["flag.toggled"])
    await toggled(flagstaff, ada, project, 4)
    for webhook, count in ((first, 3), (second, 2)):
        assert (await ada.post(f"{hook_path(webhook)}/repeat", json=EVER)).json() == {"repeated": count}
        await settle(flagstaff)
    assert (await ada.post(f"{hook_path(second)}/repeat", json=EVER)).status_code == 429


async def test_what_is_refused_or_repeats_nothing_takes_no_room(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook, receiver: Receiver, repeats: Repeats
) -> None:
    webhook = await hook(events=["flag.toggled"])
    receiver.answer = lambda _: response(500)
    await toggled(flagstaff, ada, project, 1)
    (waiting,) = await deliveries(ada, webhook)
    for _ in range(10):
        assert (await ada.post(f"{hook_path(webhook)}/deliveries/{waiting['id']}/repeat")).status_code == 202
        assert (await ada.post(f"{hook_path(webhook)}/deliveries/999/repeat")).status_code == 404
        assert (await ada.post(f"{hook_path(webhook)}/repeat", json=EVER)).json() == {"repeated": 0}
    with repeats.counting(UUID(webhook["id"]), None) as repeated:
        assert repeated.room == 3


def test_an_error_takes_no_room_and_a_refusal_by_one_bound_none_of_the_other() -> None:
    repeats, webhook, account = Repeats(of_webhook=1, of_account=2), uuid4(), uuid4()
    with pytest.raises(KeyError), repeats.counting(webhook, account):
        raise KeyError
    for each in (webhook, uuid4()):
        with repeats.counting(each, account) as repeated:
            repeated.count = 1
        with pytest.raises(Error) as refused, repeats.counting(each, account):
            pass
        assert refused.value.code is Code.LIMITED
    with repeats.counting(uuid4(), uuid4()):
        pass


@pytest.mark.both_databases
async def test_so_many_records_of_a_webhook_are_kept(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flagstaff.hooks.purger.RECORDS_MAX", 2)
    monkeypatch.setattr("flagstaff.hooks.purger._AT_ONCE", 1)
    webhook = await hook(events=["flag.toggled"])
    await toggled(flagstaff, ada, project, 5)
    kept = (await deliveries(ada, webhook))[:2]
    await do_now(flagstaff, "webhooks-purge")
    assert await deliveries(ada, webhook) == kept
    async with flagstaff.database.read() as connection:
        assert len((await connection.execute(tables.webhook_attempts.select())).all()) == 2
