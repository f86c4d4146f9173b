"""Messages to a webhook under faults: every change at least once, in order, and repeated messages with the same id."""

import asyncio
from itertools import pairwise
from time import monotonic
from uuid import UUID

from tests.faults.fleet import Fleet
from tests.support.api import Json, created, project_path
from tests.support.receiver import Message

ARRIVED_SECONDS = 90.0  # a turn ends 30 seconds after its holder has died, and a busy machine is slow


async def make_webhook(fleet: Fleet) -> None:
    """Create a webhook of the project that receives each toggle."""
    body = {"url": fleet.receiver.url, "events": ["flag.toggled"]}
    created(await fleet.owner.post(f"{project_path(fleet.project)}/webhooks", json=body))


async def find_missing(fleet: Fleet) -> list[str]:
    """Return the errors in the messages about all toggles so far, after waiting for the messages."""
    project_id = UUID(fleet.project["id"])
    query = "SELECT id FROM changes WHERE project_id = $1 AND action = 'flag.toggled' ORDER BY id"
    began = monotonic()
    while True:
        numbers = [str(row["id"]) for row in await fleet.fetch(query, project_id)]
        messages = list(fleet.receiver.messages)
        if set(numbers) <= set(map(_number, messages)) or monotonic() - began > ARRIVED_SECONDS:
            return find_wrong(numbers, messages)
        await asyncio.sleep(0.2)


def find_wrong(numbers: list[str], messages: list[Message]) -> list[str]:
    """Return the errors in the messages about the changes with these numbers, in words.

    Other changes are ignored: a change that the database lost in a failover may have been sent before.
    """
    ids: dict[str, str] = {}
    problems = [
        f"the change {number} came under two ids"
        for number, message_id in ((_number(each), each.id) for each in messages)
        if ids.setdefault(number, message_id) != message_id
    ]
    missing = [each for each in numbers if each not in ids]
    if missing:
        problems.append(f"{len(missing)} of {len(numbers)} changes were not sent, first {missing[0]}")
    known = set(numbers)
    arrived = [int(each) for each in ids if each in known]
    problems += [f"the change {later} came before {earlier}" for later, earlier in pairwise(arrived) if later > earlier]
    return problems


def _number(message: Message) -> str:
    data: Json = message.json["data"]
    return str(data["id"])
