"""Operations of the management API and their facts, which their routes note in each request.

`api/operations.py` has the decorators with which a route states them. Endpoints of other protocols only have a bound on
bodies.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from starlette.types import Scope

from flagstaff.concurrency.claims import Priority

_KIB = 1024
SMALL_BODY = 16 * _KIB
"""Enough for a password of 1,024 characters, of which JSON may spell each with twelve bytes, and an email."""
TEXT_BODY = 128 * _KIB
"""A description has up to 10,000 characters."""
ATTRIBUTES_BODY = 64 * _KIB
"""Contexts whose members are all attributes: tens of thousands would take many milliseconds to read."""
CONTEXT_BODY = 256 * _KIB
"""Contexts, such as those of evaluations."""
EVENTS_BODY = 256 * _KIB
"""A thousand events of metrics, with a quarter of a kilobyte each."""
REPORT_BODY = 1024 * _KIB
"""Counts of 5,000 flags, each with a key of 128 characters and four variants."""
CONDITIONS_BODY = 512 * _KIB
"""Conditions have lists of up to 10,000 values: enough for so many UUIDs."""

PROTOCOLS = ("/sdk/", "/ofrep/", "/unleash/")
"""The starts of the paths that applications call."""

READING = ("GET", "HEAD")
"""The methods that change nothing at a path without an operation."""
ACCOUNT_ID = "account_id"
"""The name in a request's state by which it says whose account it is made with, once that is known."""
OPERATION = "operation"
"""The name in a request's state of the operation that it is for, once its route is found."""


class Caller(Enum):
    """The callers of an operation. Services check permissions."""

    ANYONE = "anyone"
    """No token is needed."""
    ACCOUNT = "account"
    """A person, about the own account: also one who has yet to enrol the second factor that the instance demands."""
    PERSON = "person"
    """A person, with the token of a session."""
    TOKEN = "token"  # noqa: S105
    """A person or a machine: access tokens are accepted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """The facts of an operation.

    `body_max_bytes` is the bound of its body, and `takes_body` says whether it reads one. `takes_tag` says that it
    honours `If-Match`, and `is_repeatable` that it honours `Idempotency-Key`. `parameters` are its query's; None
    if the framework refuses others. `lists` are those that may be repeated. All other input is refused, unless it is
    `lenient`, because other people's programs write its requests. `priority` is its class in turns at the database, or
    tells it from a body. `shown_with` are the permissions that an access token
    needs to be shown what it has written, and `tells` the fields that others are told besides ids, keys and secrets.
    """

    caller: Caller
    accepts_access_tokens: bool
    reads: bool
    takes_body: bool = False
    body_max_bytes: int = SMALL_BODY
    takes_long: bool = False
    reports_revision: bool = False
    is_repeatable: bool = False
    takes_tag: bool = False
    parameters: tuple[str, ...] | None = ()
    lists: tuple[str, ...] = ()
    lenient: bool = False
    shown_with: frozenset[str] = frozenset()
    tells: tuple[str, ...] = ()
    priority: Priority | Callable[[bytes], Priority] = Priority.SHORT


class Endpoint(NamedTuple):
    """The paths of another protocol.

    They begin with `start`. `body_max_bytes` is the bound of a body that is sent there. `evaluations` and `others` are
    the templates of the paths that are answered; a parameter, as in `/evaluate/{flag_key}`, is the last segment.
    """

    start: str
    body_max_bytes: int
    evaluations: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    def evaluates(self, path: str) -> bool:
        """Return whether flags are evaluated at a path."""
        return any(_fits(template, path) for template in self.evaluations)

    def find_template(self, path: str) -> str | None:
        """The template of a path; None if nothing is there."""
        return next((each for each in (*self.evaluations, *self.others) if _fits(each, path)), None)


def _fits(template: str, path: str) -> bool:
    start, parameter, _ = template.partition("{")
    if not parameter:
        return path == template
    value = path.removeprefix(start)
    return value not in {"", path} and "/" not in value


def operation_of(scope: Scope) -> Operation | None:
    """The operation that a request is for; None if there is none at its path."""
    operation: Operation | None = scope.get("state", {}).get(OPERATION)
    return operation


def only_reads(scope: Scope) -> bool:
    """Return whether a request changes nothing."""
    operation = operation_of(scope)
    return scope["method"] in READING if operation is None else operation.reads


def find_priority(operation: Operation | None, body: bytes | None) -> Priority:
    """Find the class of a request with this body; None stands for one that has not been read."""
    if operation is None or (body is None and not isinstance(operation.priority, Priority)):
        return Priority.SHORT
    return operation.priority if isinstance(operation.priority, Priority) else operation.priority(body or b"")
