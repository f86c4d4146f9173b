"""The kinds of requests that the lane answers."""

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

from flagstaff.runtime.sdk_keys import Access
from flagstaff.web.edge.errors import Problem
from flagstaff.web.sdk.entity_tags import Header, Headers
from flagstaff.web.sdk.evaluate import PATH, Evaluate, sdk_key_in
from flagstaff.web.sdk.ofrep.answers import Ofrep
from flagstaff.web.sdk.ofrep.errors import PATH as OFREP_PATH
from flagstaff.web.sdk.ofrep.errors import ofrep_form
from flagstaff.web.sdk.ofrep.requests import credential_in


class Way(NamedTuple):
    """A kind of request, by its path.

    `admit` counts a request of a client. `answer` gets what the key opens, the body, and the headers that ask for a
    304; it returns the answer's tag, which may be empty, its body, which is None for a client that has it, and the
    revision that it is from. It returns None for a request that has to wait. Both raise Errors, to which `form` gives
    the protocol's form.
    """

    path: str
    key_in: Callable[[Headers], str]
    find: Callable[[str], Access | None]
    admit: Callable[[Hashable], None]
    answer: Callable[[Access, bytes, Sequence[Header]], tuple[str, bytes | None, int] | None]
    form: Callable[[Problem], Problem]


def evaluate_way(evaluate: Evaluate) -> Way:
    """Evaluations of all flags."""

    def answer(access: Access, body: bytes, _: Sequence[Header]) -> tuple[str, bytes, int]:
        return "", *evaluate.answer(access, body)

    return Way(PATH, sdk_key_in, evaluate.find, evaluate.admit, answer, lambda problem: problem)


def ofrep_way(ofrep: Ofrep) -> Way:
    """The same by OFREP, whose limit is that of the key."""
    return Way(
        OFREP_PATH,
        credential_in,
        ofrep.find,
        lambda _: None,
        ofrep.answer_at_once,
        lambda problem: ofrep_form(problem, OFREP_PATH),
    )
