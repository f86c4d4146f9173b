"""Decides after a run whether the evaluation history contains every answered evaluation exactly once."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from uuid import UUID

from flagstaff.database.database import Database
from flagstaff.evaluation.history.filters import EvaluationFilter
from flagstaff.history.store.batches import find_environment_number
from flagstaff.history.store.pages import list_evaluations
from tests.faults.histories import Evaluation

_PAGE = 1000
LOST_NANOSECONDS = 1_000_000_000  # what a SIGKILL may lose, according to docs/operations/history.md


def find_miscounts(
    evaluations: Iterable[Evaluation],
    recorded: Counter[str],
    *,
    kills: Mapping[int, Sequence[int]],
    dropped: Mapping[int, int],
) -> list[str]:
    """Return the errors in the counts, in words.

    `recorded` says how often each user is in the history, `kills` when each instance was killed, and `dropped` how many
    evaluations each instance reports as dropped.
    """
    problems = []
    answered: set[str] = set()
    unanswered: set[str] = set()
    missing: Counter[int] = Counter()
    for each in evaluations:
        if each.status == 200:
            answered.add(each.user)
            if each.user not in recorded and not _is_excused(each, kills.get(each.instance, ())):
                missing[each.instance] += 1
        elif each.status == 0:
            unanswered.add(each.user)
    problems += [
        f"instance {instance}: {count} answered evaluations are not in the history; it dropped {known}"
        for instance, count in missing.items()
        if count > (known := dropped.get(instance, 0))
    ]
    problems += [f"{user} is in the history {count} times" for user, count in recorded.items() if count > 1]
    problems += [f"{user} was refused, and is in the history" for user in recorded.keys() - answered - unanswered]
    return problems


async def find_recorded_users(
    url: str, folder: Path, environment_id: UUID, prefix: str, since: datetime
) -> Counter[str]:
    """Return how often each user whose id has this prefix is in a database's evaluation history since a time."""
    found: Counter[str] = Counter()
    database = Database(url, folder)
    try:
        async with database.read_history() as connection:
            number = await find_environment_number(connection, environment_id)
            assert number is not None
            before = None
            while True:
                page = await list_evaluations(
                    connection, number, EvaluationFilter(since=since), limit=_PAGE, before=before
                )
                found.update(each.user_id for each in page.items if each.user_id and each.user_id.startswith(prefix))
                before = page.next_before
                if before is None:
                    return found
    finally:
        await database.close()


def _is_excused(evaluation: Evaluation, kills: Sequence[int]) -> bool:
    return any(evaluation.ended - LOST_NANOSECONDS <= at <= evaluation.ended + LOST_NANOSECONDS for at in kills)
