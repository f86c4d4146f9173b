"""Has guards act on what was counted, and tells of releases that cannot be counted or judged."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from flagstaff.database.database import Database
from flagstaff.metrics.metrics import Metric
from flagstaff.releases import observations_store
from flagstaff.releases.judging import Verdict
from flagstaff.releases.observations_store import Observed
from flagstaff.releases.releases import Release
from flagstaff.releases.watching import Part, Watching

HELD_SECONDS = 3.0
"""After how long without a write another process takes over."""
FAILED_SECONDS, OUTAGE_SECONDS = 30.0, 1.0
"""For how long a release rests that could not be observed: for any reason, and because a database did not answer."""

Act = Callable[[Release, Verdict, dict[str, Metric]], Awaitable[None]]
"""Has the guards of a release act that are to act."""


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges releases. `name` is this process's, and `act` is called when a guard is to act."""

    database: Database
    name: str
    act: Act
    watching: Watching

    def clock(self) -> float:
        """The clock by which releases rest."""
        return self.watching.clock()

    def is_others(self, observed: Observed) -> bool:
        """Return whether another process counts a release."""
        return observed.holder != self.name and observed.held_until > observed.now

    def leave(self, release: Release, observed: Observed) -> None:
        """Leave a release to another process. If it fails there, an outage here goes on, since they may take turns."""
        if not observed.counted.failing_since:
            self.watching.leave(release.id, Part.GUARDS)

    async def judge(self, release: Release, verdict: Verdict, metrics: dict[str, Metric], now: int) -> bool:
        """Have guards act, and note whether all can be judged; return whether the release is to be read again."""
        acted = release.alarmed
        is_news = any(each.is_reached and each.guard.metric not in acted for each in verdict.judgements)
        is_to_act = bool(release.guards) and (is_news or (verdict.is_split_wrong and None not in acted))
        if is_to_act:
            await self.act(release, verdict, metrics)
        failed = [(each.guard.metric, each.failure) for each in verdict.judgements if each.failure is not None]
        for metric, failure in failed:
            self.watching.fail(release.id, Part.GUARDS, failure, metric=metric)
        failing_since = verdict.counted.failing_since
        if failed and failing_since:
            self.watching.begin_before(release.id, now / 1_000_000 - failing_since)
        if not failed:
            self.watching.succeed(release, Part.GUARDS)
        if bool(failed) is not bool(failing_since):
            await self._note(release, is_failing=bool(failed))
        return is_to_act

    async def fail(self, release: Release, error: Exception) -> float:
        """Tell that a release could not be observed; return for how many seconds it rests."""
        if self.watching.fail(release.id, Part.GUARDS, error):
            return OUTAGE_SECONDS
        await self._note(release, is_failing=True)
        return FAILED_SECONDS

    async def _note(self, release: Release, *, is_failing: bool) -> None:
        """Store whether the release cannot be watched, so that its next step waits and its page says since when."""
        try:
            async with self.database.write_history() as connection:
                observed = await observations_store.find_observed(connection, release.id)
                if observed is None or self.is_others(observed):
                    return
                counted = observed.counted
                if bool(counted.failing_since) is not is_failing:
                    counted.failing_since = observed.now // 1_000_000 if is_failing else 0
                    await observations_store.continue_observed(connection, observed, counted, self.name, HELD_SECONDS)
        except Exception as error:  # noqa: BLE001 - sums that cannot be read hold the next step back as well
            self.watching.fail(release.id, Part.GUARDS, error)
