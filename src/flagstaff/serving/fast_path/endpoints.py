"""The kinds of requests that the fast path answers."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.history.callers import SdkProtocol
from flagstaff.http.errors import Problem
from flagstaff.http.operations import EVENTS_BODY
from flagstaff.serving.access import KeyAccess
from flagstaff.serving.entity_tags import Header, Headers
from flagstaff.serving.evaluate import ENDPOINT, PATH, Evaluate, NotLoadedError, sdk_key_in
from flagstaff.serving.events import PATH as EVENTS_PATH
from flagstaff.serving.events import EventsRoute
from flagstaff.serving.known_sdk_keys import Access
from flagstaff.serving.ofrep.answers import Ofrep
from flagstaff.serving.ofrep.errors import ENDPOINT as OFREP_ENDPOINT
from flagstaff.serving.ofrep.errors import PATH as OFREP_PATH
from flagstaff.serving.ofrep.errors import ofrep_form
from flagstaff.serving.ofrep.requests import credential_in

Counts = defaultdict[int, int]
FastAnswer = tuple[str, bytes | None, EnvironmentSnapshot]


class FastEndpoint(NamedTuple):
    """A kind of request, by its path.

    `answer` counts the request of a client. It gets what the key opens, the body, the headers that ask for a 304, and
    the client. It returns the answer's tag, which may be empty, its body, which is None for a client that has it, and
    the environment that it is from; or None for a request that has to wait. It raises Errors, to which `form` gives the
    protocol's form. An answer has the status `success`, and `responses` counts those with each status.
    """

    protocol: SdkProtocol
    path: str
    body_max_bytes: int
    key_in: Callable[[Headers], str]
    find: Callable[[str], Access | None]
    answer: Callable[[Access, bytes, Sequence[Header], Hashable], FastAnswer | None]
    form: Callable[[Problem], Problem]
    responses: Counts
    success: int = 200


def evaluate_endpoint(evaluate: Evaluate, responses: Counts) -> FastEndpoint:
    """Evaluations of all flags."""

    def answer(access: Access, body: bytes, _: Sequence[Header], client: Hashable) -> FastAnswer | None:
        evaluate.admit(client)
        try:
            return "", *evaluate.answer(access, body)
        except NotLoadedError:
            evaluate.forgive(client)
            return None  # and the route counts it

    return FastEndpoint(
        SdkProtocol.EVALUATE,
        PATH,
        ENDPOINT.body_max_bytes,
        sdk_key_in,
        evaluate.find,
        answer,
        lambda problem: problem,
        responses,
    )


def ofrep_endpoint(ofrep: Ofrep, key_access: KeyAccess, responses: Counts) -> FastEndpoint:
    """The same by OFREP."""

    def answer(access: Access, body: bytes, conditions: Sequence[Header], client: Hashable) -> FastAnswer | None:
        if not ofrep.can_answer_at_once(access):
            return None  # and the route counts it
        key_access.admit(access, client)
        return ofrep.answer_at_once(access, body, conditions)

    return FastEndpoint(
        SdkProtocol.OFREP,
        OFREP_PATH,
        OFREP_ENDPOINT.body_max_bytes,
        credential_in,
        ofrep.find,
        answer,
        lambda problem: ofrep_form(problem, OFREP_PATH),
        responses,
    )


def events_endpoint(events: EventsRoute, responses: Counts) -> FastEndpoint:
    """Events of metrics."""

    def answer(access: Access, body: bytes, _: Sequence[Header], client: Hashable) -> FastAnswer | None:
        accepted = events.accept_at_once(access, body, client)
        return None if accepted is None else ("", *accepted)

    return FastEndpoint(
        SdkProtocol.EVENTS,
        EVENTS_PATH,
        EVENTS_BODY,
        sdk_key_in,
        events.find,
        answer,
        lambda problem: problem,
        responses,
        202,
    )
