"""The payload for clients with one prefix, composed when the first of them asks."""

from flagstaff.concurrency.loop_turns import loop_turns
from flagstaff.concurrency.worker import in_worker
from flagstaff.evaluation.unleash.local_flags import LocalFlags, Payload


async def payload_of(flags: LocalFlags, prefix: str = "") -> Payload:
    """The payload of the flags whose keys begin with a prefix."""
    payload = flags.payloads.get(prefix)
    if payload is None:
        payload = await in_worker(flags.compose, prefix)
        flags.keep(prefix, payload)
        await loop_turns().wait()  # all who have asked since a change have it at once
    return payload
