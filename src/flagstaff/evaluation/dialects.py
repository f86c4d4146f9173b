"""Other protocols' responses, decided and joined by the same kernel.

A snapshot is translated to a dialect when that is first asked for: everything that decides is shared, and the
fragments are written anew.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, NamedTuple

from flagstaff.evaluation.evaluator import NO_ATTRIBUTES, evaluate
from flagstaff.evaluation.fragments import SEPARATOR, make_fragment
from flagstaff.evaluation.history.layout import NO_BUCKET, NO_OUTCOME, LayoutFlag
from flagstaff.evaluation.loops import Answers, Fragment
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.evaluation.snapshot import Dialect, EnvironmentSnapshot, Translation
from flagstaff.evaluation.targets import NO_CONTENTS

_DIGEST_BYTES = 16
_WRITTEN_BYTES = 32  # of decisions, at most, that a tag has as they are: hashing takes ten times as long


class Rendered(NamedTuple):
    """A response about all flags; `tag` identifies its bytes, and `recorded` are the bytes to record."""

    body: bytes
    tag: str
    recorded: bytes


def evaluate_in(
    translation: Translation,
    user_id: str | None,
    user_email: str | None,
    attributes: Mapping[str, object] = NO_ATTRIBUTES,
    custom_holding: int | None = None,
) -> Rendered:
    """Evaluate all flags like `evaluate`, in a dialect."""
    body, recorded = evaluate(translation.snapshot, user_id, user_email, attributes, custom_holding)
    if translation.is_open and body.endswith(end := SEPARATOR + translation.dialect.tail):
        body = body[: -len(end)] + translation.dialect.tail
    if len(recorded) <= _WRITTEN_BYTES:
        return Rendered(body, translation.content_in_hex + recorded.hex(), recorded)
    tag = blake2b(translation.content + recorded, digest_size=_DIGEST_BYTES).hexdigest()
    return Rendered(body, tag, recorded)


def translate(snapshot: EnvironmentSnapshot, dialect: Dialect) -> Translation:
    """Translate a snapshot."""
    content = blake2b(dialect.head + dialect.tail, digest_size=_DIGEST_BYTES)
    tables = []
    for flag, used in zip(snapshot.layout.recorded, _used_bytes(snapshot), strict=True):
        tables.append(_tabulate(snapshot, dialect, flag, used))
        content.update(tables[-1].digest())
    constant = [_tabulate(snapshot, dialect, flag, ()).of(NO_BUCKET) for flag in snapshot.layout.constant]
    constants = b"".join(map(_bytes_of, constant)).removesuffix(SEPARATOR)
    constant_tail = constants + dialect.tail
    content.update(constant_tail)
    answers: list[Answers] = [
        table.first(len(known)) if isinstance(known, tuple) else {byte: table.of(byte) for byte in known}
        for table, known in zip(tables, _answers(snapshot), strict=True)
    ]
    parts: dict[str, Any] = {"head": dialect.head, "constant_tail": constant_tail, "default_tail": constant_tail}
    if snapshot.targeting is None:
        rollouts = len(snapshot.rollouts)
        parts["answers"], parts["rollout_answers"] = tuple(answers), tuple(answers[:rollouts])
        parts["default_tail"] = b"".join(_bytes_of(each[NO_BUCKET]) for each in answers[rollouts:]) + constant_tail
    else:
        parts["targeting"] = replace(snapshot.targeting, answers=tuple(answers), kept={})
        parts["targeting"].prepare()
    translated = replace(snapshot, **parts)
    return Translation(dialect, translated, content.digest(), content.hexdigest(), is_open=not constants)


@dataclass(frozen=True, slots=True)
class _Table:
    """A flag's fragments by outcome, and its outcomes by recorded byte."""

    outcomes: bytes
    fragments: Mapping[int, Fragment]

    def of(self, byte: int) -> Fragment:
        """The fragment for a recorded byte."""
        return self.fragments[self.outcomes[byte]]

    def first(self, count: int) -> tuple[Fragment, ...]:
        """The fragments for the first bytes."""
        return tuple(map(self.fragments.__getitem__, self.outcomes[:count]))

    def digest(self) -> bytes:
        """A digest of all that the flag's part of a response depends on, besides the recorded bytes."""
        content = self.outcomes + b"\n".join(map(_bytes_of, self.fragments.values()))
        return blake2b(content, digest_size=_DIGEST_BYTES).digest()


def _answers(snapshot: EnvironmentSnapshot) -> tuple[Answers, ...]:
    return snapshot.answers if snapshot.targeting is None else snapshot.targeting.answers


def _used_bytes(snapshot: EnvironmentSnapshot) -> Iterator[Iterable[int]]:
    """The bytes that can be recorded for each recorded flag."""
    for known in _answers(snapshot):
        yield range(len(known)) if isinstance(known, tuple) else known


def _tabulate(snapshot: EnvironmentSnapshot, dialect: Dialect, flag: LayoutFlag, used: Iterable[int]) -> _Table:
    contents = snapshot.contents.get(flag.key, NO_CONTENTS)
    outcomes = flag.outcomes_by_byte
    possible = {outcomes[byte] for byte in (NO_BUCKET, *used)} - {NO_OUTCOME}
    fragments: dict[int, Fragment] = {
        each: make_fragment(dialect.write, flag, contents, Outcome(each)) for each in sorted(possible)
    }
    return _Table(outcomes, {**fragments, NO_OUTCOME: fragments[outcomes[NO_BUCKET]]})


def _bytes_of(fragment: Fragment) -> bytes:
    return fragment if isinstance(fragment, bytes) else b"\n".join(fragment)
