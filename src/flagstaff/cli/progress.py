"""Progress of long work: a bar on a terminal, nothing in a log; and a clean stop."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


@contextmanager
def progress_bar(total: int) -> Iterator[Callable[[str, int], None]]:
    """A bar for `total` steps on standard error; call it with what is being done and the number of further steps."""
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=total)
        yield lambda what, steps: progress.update(task, description=what, advance=steps)


@contextmanager
def ended_by_sigterm() -> Iterator[None]:
    """Make SIGTERM end the command with an exception, as Ctrl-C does, so that unfinished files are deleted."""

    def end(_number: int, _frame: FrameType | None) -> None:
        sys.exit("flagstaff: Ended by a signal. Nothing was changed.")

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def spell_size(count: float) -> str:
    """A number of bytes for people, such as `4.2 MiB`."""
    for unit in _UNITS[:-1]:
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} {_UNITS[-1]}"
