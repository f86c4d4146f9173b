"""The SDK keys with which other protocols' clients ask for the flags of one environment."""

from collections.abc import Awaitable, Callable, Collection

from flagstaff.domain.errors import Code, Error
from flagstaff.domain.sdk_keys import KeyKind
from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.runtime.sdk_keys import Access
from flagstaff.web.edge.errors import UnauthenticatedError

CHALLENGE = b"Bearer"
ANY_KIND = frozenset(KeyKind)
SERVER_ONLY = frozenset({KeyKind.SERVER})

_NOT_VALID = "The SDK key is missing or not valid. It may have been revoked, or have expired."
_OF_A_PROJECT = (
    "This is the SDK key of a project, which is for POST /sdk/v1/evaluate only. Use the key of an environment; make "
    "one in the dashboard under SDK keys, or with POST /api/projects/{project_id}/sdk-keys."
)


async def open_access(
    find: Callable[[str], Awaitable[Access | None]], key: str, kinds: Collection[KeyKind] = ANY_KIND
) -> tuple[Access, EnvironmentSnapshot]:
    """What a key opens, and the environment.

    Raises:
        Error: UNAUTHENTICATED for a key that is not valid or not of an environment, FORBIDDEN for one of another kind,
            UNAVAILABLE while the environment cannot be loaded, LIMITED beyond the key's limit.
    """
    access = await find(key) if key else None
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
    return access, access.environment


async def open_environment(
    find: Callable[[str], Awaitable[Access | None]], key: str, kinds: Collection[KeyKind] = ANY_KIND
) -> EnvironmentSnapshot:
    """The environment that a key opens; raises what `open_access` raises."""
    _, environment = await open_access(find, key, kinds)
    return environment


def not_valid() -> UnauthenticatedError:
    """The error for a key that opens nothing."""
    return UnauthenticatedError(_NOT_VALID, CHALLENGE)
