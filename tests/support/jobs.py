"""Runs the service's periodic tasks immediately."""

from flagstaff.assembly.bootstrap import Flagstaff


async def do_now(flagstaff: Flagstaff, *names: str) -> None:
    """Run periodic tasks by their names, such as "history-purge", one after the other.

    Raises:
        KeyError: there is no such task.
    """
    tasks = {task.name: task for task in flagstaff.foundation.periodic_tasks}
    for name in names:
        await tasks[name].work()
