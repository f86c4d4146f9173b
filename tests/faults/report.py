"""The table of a run."""

from collections.abc import Iterable, Sequence
from statistics import median

from tests.faults.histories import Evaluation, Outcome
from tests.faults.rounds import Round

_HEADS = (
    ("fault", 64),
    ("held", 6),
    ("toggles", 7),
    ("unknown", 7),
    ("p50 ms", 6),
    ("max ms", 7),
    ("answers", 7),
    ("refused", 7),
    ("marked", 6),
    ("detect", 6),
    ("recover", 7),
    ("ready", 6),
    ("pages", 6),
    ("violations", 10),
)
HEAD = " ".join(f"{name:{'<' if name == 'fault' else '>'}{width}}" for name, width in _HEADS)


def row(played: Round) -> str:
    """Return a line about a round, without its errors."""
    history = played.history
    made = [each for each in history.toggles if each.outcome is Outcome.MADE and each.ended > played.began]
    times = [(each.ended - each.started) / 1e6 for each in made]
    values = (
        str(played.nemesis),
        f"{(played.healed - played.began) / 1e9:.1f} s",
        len(made),
        sum(each.outcome is Outcome.UNKNOWN for each in history.toggles),
        f"{median(times):.1f}" if times else "-",
        f"{max(times):.0f}" if times else "-",
        sum(each.is_normal for each in history.evaluations),
        sum(each.status == 503 for each in history.evaluations),
        sum(each.stale is not None for each in history.evaluations),
        _seconds(seconds_to_detect(played)),
        _seconds(seconds_to_recover(played)),
        _seconds(played.ready_seconds),
        _seconds(played.aware_seconds),
        len(played.violations),
    )
    cells = zip(values, _HEADS, strict=True)
    return " ".join(f"{value!s:{'<' if name == 'fault' else '>'}{width}}" for value, (name, width) in cells)


def complaints(played: Round) -> Iterable[str]:
    """Return the errors of a round, with the first violations of each instance and how long they lasted."""
    found = played.violations
    for instance in sorted({each.evaluation.instance for each in found}):
        mine = [each for each in found if each.evaluation.instance == instance]
        lasted = (mine[-1].evaluation.ended - mine[0].evaluation.started) / 1e9
        since = (mine[0].evaluation.started - played.began) / 1e9
        yield f"  {len(mine)} violations in {lasted:.2f} s, from {since:.2f} s after the fault began:"
        yield from (f"    {each}" for each in mine[:3])
    yield from (f"  {each}" for each in played.problems)


def seconds_to_detect(played: Round) -> float | None:
    """Return the time from the start of the fault to a victim's first refused or marked answer, if there was one."""
    if played.nemesis.detected_seconds is not None:
        return played.nemesis.detected_seconds
    ends = [each.ended for each in _affected(played)]
    return (min(ends) - played.began) / 1e9 if ends else None


def seconds_to_recover(played: Round) -> float | None:
    """Return the time from the end of the fault until the last victim answers normally; 0 if it did so earlier."""
    longest = played.nemesis.recovered_seconds
    for instance in played.nemesis.victims:
        wrong = [each.ended for each in _affected(played) if each.instance == instance]
        usual = (each.ended for each in played.history.evaluations if each.is_normal and each.instance == instance)
        if wrong:
            first = min((each for each in usual if each > max(wrong)), default=None)
            seconds = (first - played.healed) / 1e9 if first else float("inf")
            longest = max(longest or 0.0, seconds)
    return longest


def _affected(played: Round) -> Sequence[Evaluation]:
    victims = played.nemesis.victims
    began = played.began
    return [
        each
        for each in played.history.evaluations
        if each.instance in victims and each.ended > began and not each.is_normal and each.status != 429
    ]


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f} s"
