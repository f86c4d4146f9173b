"""What came of attempts is stored for many webhooks together, so that changes do not wait for it."""

import asyncio
from collections.abc import Sequence

import pytest
import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.hooks.batches import Batch, Batches
from flagstaff.hooks.deliveries import Attempt, State
from flagstaff.hooks.pace import TURN
from flagstaff.hooks.recorder import RECORDED_AT_ONCE, Recorder, Result
from flagstaff.identity.second_factors.sealing import Sealer
from tests.support.api import Caller, Json, environment_path
from tests.support.clock import Clock
from tests.support.receiver import Receiver
from tests.web.webhooks.conftest import Hook

WEBHOOKS = 20


@pytest.fixture
async def batches(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook, receiver: Receiver, clock: Clock
) -> Sequence[Batch]:
    """A turn's messages to each of twenty webhooks, which the server has not recorded, because no receiver answers."""
    receiver.answer = lambda _: None
    environment = await ada.get_environment(project)
    flags = [await ada.create_flag(environment, key=f"flag-{number}") for number in range(TURN)]
    await asyncio.gather(*(hook(events=["flag.toggled"]) for _ in range(WEBHOOKS)))
    body = {"action": "disable", "flags": [each["id"] for each in flags]}
    (await ada.post(f"{environment_path(environment)}/bulk-actions", json=body)).raise_for_status()
    async with flagstaff.database.read() as connection:
        ids = (await connection.execute(sa.select(tables.webhooks.c.id))).scalars().all()
    reader = Batches(flagstaff.database, clock, Sealer(flagstaff.foundation.secret_key), "http://flagstaff.test")
    return [batch for each in ids if (batch := await reader.read(each)) is not None]


def accepted(batch: Batch, clock: Clock) -> list[Result]:
    """The results of messages that were accepted."""
    attempt = Attempt(clock(), 5, 200, None, "ok")
    return [
        Result(batch.webhook, each.delivery, each.event, attempt, State.DELIVERED, None, None)
        for each in batch.messages
    ]


async def count_recorded(database: Database) -> tuple[int, int]:
    """Count the accepted messages, and the attempts."""
    delivered = sa.select(sa.func.count()).where(tables.webhook_deliveries.c.state == State.DELIVERED)
    made = sa.select(sa.func.count()).select_from(tables.webhook_attempts)
    async with database.read() as connection:
        return (await connection.execute(delivered)).scalar_one(), (await connection.execute(made)).scalar_one()


@pytest.mark.both_databases
async def test_the_results_of_many_webhooks_are_stored_in_few_transactions(
    flagstaff: Flagstaff, batches: Sequence[Batch], clock: Clock
) -> None:
    recorder = Recorder(flagstaff.database, clock, between_seconds=0)
    await asyncio.gather(*(recorder.record(accepted(each, clock), []) for each in batches))
    assert await count_recorded(flagstaff.database) == (WEBHOOKS * TURN, WEBHOOKS * TURN)
    assert recorder.written == 1 + (WEBHOOKS - 1) * TURN // RECORDED_AT_ONCE + 1  # the first waits for nobody


@pytest.mark.both_databases
async def test_a_stop_that_interrupts_a_transaction_loses_no_result_of_another_webhook(
    flagstaff: Flagstaff, batches: Sequence[Batch], clock: Clock
) -> None:
    recorder = Recorder(flagstaff.database, clock, between_seconds=30)
    await recorder.record(accepted(batches[0], clock), [])
    first, second = (asyncio.create_task(recorder.record(accepted(each, clock), [])) for each in batches[1:3])
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    recorder.hurries.set()
    await second
    assert first.cancelled()
    assert await count_recorded(flagstaff.database) == (3 * TURN, 3 * TURN)


@pytest.mark.both_databases
async def test_of_results_together_only_those_are_stored_whose_message_nobody_else_has_sent(
    flagstaff: Flagstaff, batches: Sequence[Batch], clock: Clock
) -> None:
    recorder = Recorder(flagstaff.database, clock, between_seconds=0)
    again = accepted(batches[0], clock)
    await recorder.record(again[:2], [])
    await recorder.record(again, [])
    assert await count_recorded(flagstaff.database) == (TURN, TURN)
