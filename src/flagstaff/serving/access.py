"""The SDK keys with which other protocols' clients ask for the flags of one environment."""

from collections.abc import Awaitable, Callable, Collection, Hashable

from starlette.types import Scope

from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.history.callers import SdkProtocol
from flagstaff.http.errors import UnauthenticatedError
from flagstaff.http.limits import Limits, admit, admit_spread
from flagstaff.projects.sdk_keys import KeyKind
from flagstaff.serving.caller_counts import CallerCounts
from flagstaff.serving.known_sdk_keys import Access
from flagstaff.serving.page_origins import Headers, require_allowed
from flagstaff.serving.refetches import Refetches
from flagstaff.values.errors import Code, Error

CHALLENGE = b"Bearer"
ANY_KIND = frozenset(KeyKind)
SERVER_ONLY = frozenset({KeyKind.SERVER})

_NOT_VALID = "The SDK key is missing or not valid. It may have been revoked, or have expired."
_OF_A_PROJECT = (
    "This is the SDK key of a project, which is for POST /sdk/v1/evaluate only. Use the key of an environment; create "
    "one in the dashboard under SDK keys, or with POST /api/projects/{project_id}/sdk-keys."
)


Find = Callable[[str], Awaitable[Access | None]]


class KeyAccess:
    """Opens environments by their SDK keys, and counts requests against their client's address.

    A browser's key is public, so anyone can use it; a key that opens nothing counts as an evaluation would. Requests
    with the keys of servers are not counted: all of an application's come from one address. A refetch of a client in a
    browser, which has a name, counts against the share that the client has.
    """

    def __init__(self, find: Find, limits: Limits, refetches: Refetches, callers: CallerCounts) -> None:
        """`find` finds what an SDK key opens."""
        self.find = find
        self._limits = limits
        self._refetches = refetches
        self.callers = callers

    async def open(
        self,
        scope: Scope,
        key: str,
        protocol: SdkProtocol,
        kinds: Collection[KeyKind] = ANY_KIND,
        *,
        name: str | None = None,
        reports: bool = False,
    ) -> tuple[Access, EnvironmentSnapshot]:
        """Return a key's access and the environment, in which the request's caller is counted.

        `name` is the name of a client that fetches flags again. A client's report (`reports`) does not count as a
        fetch.

        Raises:
            Error: as in `open_access`, and LIMITED beyond the client's limit.
        """
        access = await self.find(key) if key else None
        self.count(scope, access, name, reports=reports)
        opened, environment = check_access(access, scope["headers"], kinds)
        self.callers.add(self.callers.identify(scope, protocol, opened, environment), 1)
        return opened, environment

    def count(self, scope: Scope, access: Access | None, name: str | None = None, *, reports: bool = False) -> None:
        """Count a request with a key that opens this; raises Error LIMITED."""
        client = self._limits.client(scope)
        if access is None or access.environment is None:
            admit(self._limits.evaluate, client)
        elif reports and access.kind is KeyKind.BROWSER:
            admit_spread(self._limits.browser_reports, client)
        elif name is None or not self._refetches.admit(name, access.environment.revision, client):
            self.admit(access, client)

    def count_stream(self, scope: Scope, access: Access | None) -> None:
        """Count a stream whose address was made here; raises Error LIMITED."""
        if access is None or access.kind is KeyKind.BROWSER:
            admit_spread(self._refetches.of_address, self._limits.client(scope))

    def admit(self, access: Access, client: Hashable) -> None:
        """Count a request of a client if its key is a browser's; raises Error LIMITED."""
        if access.kind is KeyKind.BROWSER:
            admit_spread(self._limits.browser, client)

    def admit_report(self, access: Access, times: int = 1) -> None:
        """Count a report with a key, a large one several times; raises Error LIMITED."""
        for _ in range(times):
            admit(self._limits.report, access.key_id)


async def open_access(
    find: Find, key: str, headers: Headers, kinds: Collection[KeyKind] = ANY_KIND
) -> tuple[Access, EnvironmentSnapshot]:
    """Return a key's access and the environment, for a request that was counted before.

    Raises:
        Error: UNAUTHENTICATED for a key that is not valid or not of an environment, FORBIDDEN for one of another kind
            or for other pages, UNAVAILABLE while the environment cannot be loaded, LIMITED beyond the key's limit.
    """
    return check_access(await find(key) if key else None, headers, kinds)


def check_access(
    access: Access | None, headers: Headers, kinds: Collection[KeyKind]
) -> tuple[Access, EnvironmentSnapshot]:
    """The access and its environment; raises Error UNAUTHENTICATED or FORBIDDEN."""
    if access is None:
        raise not_valid()
    if access.environment is None:
        raise UnauthenticatedError(_OF_A_PROJECT, CHALLENGE)
    if access.kind not in kinds:
        raise Error(
            Code.FORBIDDEN,
            f"This SDK key of the environment {access.environment.environment_key} is of the kind {access.kind}. "
            f"Use one of the kind {' or '.join(sorted(kinds))} here.",
        )
    require_allowed(access, headers)
    return access, access.environment


def not_valid() -> UnauthenticatedError:
    """The error for a key that opens nothing."""
    return UnauthenticatedError(_NOT_VALID, CHALLENGE)
