"""Other protocols' responses, decided and joined by the same kernel.

A snapshot is translated to a dialect when that is first asked for: everything that decides is shared, and the
fragments are written anew, in steps between which the caller may do other work.
"""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, NamedTuple

from flagstaff.evaluation.evaluator import NO_ATTRIBUTES, evaluate
from flagstaff.evaluation.fragments import SEPARATOR, make_fragment
from flagstaff.evaluation.history.layout import NO_BUCKET, NO_OUTCOME, Decision, LayoutFlag
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.evaluation.snapshot import Dialect, EnvironmentSnapshot, Translation
from flagstaff.evaluation.targets import Answers, Fragment, Targeting

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


def write_alone(dialect: Dialect, snapshot: EnvironmentSnapshot, decision: Decision) -> bytes:
    """The fragment of one flag that was decided alone."""
    return dialect.write(decision, snapshot.values.get(decision.flag.key, {})).removesuffix(SEPARATOR)


def translate(snapshot: EnvironmentSnapshot, dialect: Dialect) -> Generator[None, None, Translation]:
    """Translate a snapshot, in steps of some dozen microseconds."""
    content = blake2b(dialect.head + dialect.tail, digest_size=_DIGEST_BYTES)
    tables = []
    for flag, used in zip(snapshot.layout.recorded, _used_bytes(snapshot), strict=True):
        tables.append(_tabulate(snapshot, dialect, flag, used))
        content.update(tables[-1].digest())
        yield
    constant = []
    for flag in snapshot.layout.constant:
        constant.append(_tabulate(snapshot, dialect, flag, ()).of(NO_BUCKET))
        yield
    constants = b"".join(map(_bytes_of, constant)).removesuffix(SEPARATOR)
    constant_tail = constants + dialect.tail
    content.update(constant_tail)
    yield
    if snapshot.targeting is None:
        fragments = yield from _look_ups(snapshot, tables)
    else:
        fragments = yield from _targeting(snapshot.targeting, tables)
    translated = replace(
        snapshot,
        head=dialect.head,
        constant_tail=constant_tail,
        default_tail=b"".join(fragments.get("ruled_defaults", ())) + constant_tail,
        **fragments,
    )
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


def _used_bytes(snapshot: EnvironmentSnapshot) -> Iterator[Iterable[int]]:
    """The bytes that can be recorded for each recorded flag."""
    if snapshot.targeting is not None:
        for known in snapshot.targeting.answers:
            yield range(len(known)) if isinstance(known, tuple) else known
        return
    for position, by_rule in enumerate(snapshot.rule_answers):
        yield [*range(NO_BUCKET + 1), *by_rule] if position < len(snapshot.rollouts) else by_rule


def _tabulate(snapshot: EnvironmentSnapshot, dialect: Dialect, flag: LayoutFlag, used: Iterable[int]) -> _Table:
    values = snapshot.values.get(flag.key, {})
    outcomes = flag.outcomes_by_byte
    possible = {outcomes[byte] for byte in (NO_BUCKET, *used)} - {NO_OUTCOME}
    fragments: dict[int, Fragment] = {
        each: make_fragment(dialect.write, flag, values, Outcome(each)) for each in sorted(possible)
    }
    return _Table(outcomes, {**fragments, NO_OUTCOME: fragments[outcomes[NO_BUCKET]]})


def _look_ups(snapshot: EnvironmentSnapshot, tables: Sequence[_Table]) -> Generator[None, None, dict[str, Any]]:
    """Make a dialect's look-ups for the recorded flags of a snapshot without targeting."""
    rollouts = len(snapshot.rollouts)
    rollout_answers: list[tuple[Fragment, ...]] = []
    rule_answers: list[Answers] = []
    for table, known in zip(tables, snapshot.rule_answers, strict=True):
        if len(rollout_answers) < rollouts:
            rollout_answers.append(table.first(NO_BUCKET + 1))
        rule_answers.append({byte: table.of(byte) for byte in known})
        yield
    return {
        "rollout_answers": tuple(rollout_answers),
        "rule_answers": tuple(rule_answers),
        "ruled_defaults": tuple(table.of(NO_BUCKET) for table in tables[rollouts:]),
    }


def _targeting(targeting: Targeting, tables: Sequence[_Table]) -> Generator[None, None, dict[str, Any]]:
    """Make the same for a snapshot with targeting."""
    answers: list[Answers] = []
    for table, known in zip(tables, targeting.answers, strict=True):
        if isinstance(known, tuple):
            answers.append(table.first(len(known)))
        else:
            answers.append({byte: table.of(byte) for byte in known})
        yield
    translated = replace(targeting, answers=tuple(answers), kept={})
    yield
    yield from translated.prepare()
    return {"targeting": translated}


def _bytes_of(fragment: Fragment) -> bytes:
    return fragment if isinstance(fragment, bytes) else b"\n".join(fragment)
