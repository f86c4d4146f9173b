"""The results of an arm. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with the ends of its always-valid interval."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ArmResult:
    """An arm: its users, those with events, their events, and the rate or the mean; None without users.

    Of several steps, rates and means are standardised. `cut_mean` is the mean of the numbers as they are cut off, which
    decides.
    """

    name: str
    users: int
    users_with_events: int
    events: int
    rate: float | None
    mean: float | None
    cut_mean: float | None = None
    ratio: Interval | None = None
    """The rate compared with the control's, with all steps together."""
    difference: Interval | None = None
    """The mean compared with the control's, with all steps together."""
