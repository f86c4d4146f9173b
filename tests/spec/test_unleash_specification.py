"""The cases of Unleash's client specification, which all of its SDKs pass, run with our compiler and evaluator."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.flags.targeting.segments import Segment
from tests.support.debian import leave_out
from tests.support.unleash import (
    User,
    evaluate_all,
    flag_key,
    read_payload,
    translate_context,
    translate_segments,
    translate_state,
    with_rollout,
)
from tests.support.unleash_strategies import LeftOutError

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "dashboard" / "node_modules" / "@unleash" / "client-specification"
PAGE = ROOT / "docs" / "reference" / "unleash-specification.md"
GUIDE = ROOT / "docs" / "guide" / "unleash.md"
OFF = {"enabled": False}
# Features that our engine deliberately decides differently.
DIFFERENT = {
    "child.with.transitive.dependency": (
        "A prerequisite may have prerequisites. For Unleash's SDKs, it then does not hold."
    )
}


@dataclass(frozen=True)
class Case:
    """A question of the specification, and the expected answer.

    Without a user, `reason` says why the case is left out.
    """

    file: str
    description: str
    toggle: str
    flags: tuple[TargetedFlag, ...]
    segments: tuple[Segment, ...]
    user: User | None
    expected: Mapping[str, Any]
    reason: str | None

    @property
    def is_held(self) -> bool:
        return self.reason is None


def cases() -> Iterator[Case]:
    """All cases, in the order of the specification."""
    if not PACKAGE.is_dir():
        return
    folder = PACKAGE / "specifications"
    for file in json.loads((folder / "index.json").read_text()):
        document = json.loads((folder / file).read_text())
        try:
            translated = translate_state(document["state"])
        except LeftOutError as error:
            translated = {each["toggleName"]: error for each in document["tests"]}
        flags = tuple(each for each in translated.values() if isinstance(each, TargetedFlag))
        segments = tuple(translate_segments(document["state"]))
        for asked in [*document.get("tests", ()), *document.get("variantTests", ())]:
            toggle = asked["toggleName"]
            user, reason = user_of(asked["context"], translated.get(toggle))
            reason = reason or DIFFERENT.get(toggle)
            expected = expect(asked["expectedResult"])
            yield Case(file, asked["description"], toggle, flags, segments, user, expected, reason)


def user_of(context: Mapping[str, Any], target: TargetedFlag | LeftOutError | None) -> tuple[User | None, str | None]:
    """Return the user, or the reason why the case is left out. A feature that does not exist has no target."""
    if isinstance(target, LeftOutError):
        return None, str(target)
    try:
        return translate_context(context, target), None
    except LeftOutError as reason:
        return None, str(reason)


def expect(result: bool | Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an expected result in our terms: a disabled variant is no variant."""
    if isinstance(result, bool):
        return {"enabled": result}
    name = result["name"] if result["enabled"] else None
    payload = result.get("payload")
    return {
        "enabled": result["feature_enabled"],
        "variant": name,
        "value": None if payload is None else read_payload(payload),
    }


def answer(case: Case, flags: Iterable[TargetedFlag]) -> Mapping[str, Any]:
    """Return our engine's answer, with only what the case asks for. A flag that is not in the response is off."""
    assert case.user is not None
    found = evaluate_all(flags, case.segments, case.user).get(flag_key(case.toggle), OFF)
    return {name: found.get(name) for name in case.expected}


CASES = tuple(cases())
HELD = [pytest.param(case, id=f"{case.file}: {case.description}") for case in CASES if case.is_held]


@pytest.mark.parametrize("case", HELD)
def test_the_answer_is_the_specifications(case: Case) -> None:
    assert answer(case, case.flags) == case.expected
    assert answer(case, map(with_rollout, case.flags)) == case.expected


@pytest.mark.parametrize("toggle", DIFFERENT)
def test_an_answer_that_is_said_to_differ_does(toggle: str) -> None:
    asked = [case for case in CASES if case.toggle == toggle]
    if not asked:
        leave_out("Unleash's specification is not installed: make test installs it.")
    for case in asked:
        assert answer(case, case.flags) != case.expected


def test_no_case_negates_a_condition_on_a_missing_attribute() -> None:
    """The guide says so: SDKs differ in such cases, and so does Flagstaff."""
    for case in CASES:
        for targeted in case.flags:
            negated = {each.attribute for rule in targeted.rules for each in rule.conditions if each.negate}
            if case.user and targeted.flag.key == flag_key(case.toggle):
                assert negated <= {"user_id" if case.user.user_id else "", *case.user.custom_attributes}


def test_the_page_says_which_cases_pass_and_why_others_are_left_out() -> None:
    if not CASES:
        leave_out("Unleash's specification is not installed: make test installs it.")
    shown = [line for line in PAGE.read_text().splitlines() if line.startswith("|")]
    assert shown == [*summary(), *left_out()]


def test_the_page_names_the_version() -> None:
    locked = json.loads((ROOT / "dashboard" / "package.json").read_text())["devDependencies"]
    assert f"version {locked['@unleash/client-specification']} " in PAGE.read_text()


def test_the_guide_has_the_same_numbers() -> None:
    *_, total = (line for line in PAGE.read_text().splitlines() if line.startswith("| all |"))
    _, _, number, held, *_ = (each.strip() for each in total.split("|"))
    assert f"[{held} of {number} cases](../reference/unleash-specification.md)" in GUIDE.read_text()


def summary() -> Iterator[str]:
    """Yield the page's table with the number of cases in each file."""
    total, held = Counter(case.file for case in CASES), Counter(case.file for case in CASES if case.is_held)
    yield "| file | cases | pass | left out |"
    yield "|---|---|---|---|"
    for file, number in total.items():
        yield f"| {file} | {number} | {held[file]} | {number - held[file] or ''} |"
    yield f"| all | {total.total()} | {held.total()} | {total.total() - held.total()} |"


def left_out() -> Iterator[str]:
    """Yield the page's table with the reasons for which cases are left out, and their number in each file."""
    yield "| why | cases |"
    yield "|---|---|"
    reasons: dict[str | None, Counter[str]] = {}
    for case in CASES:
        if not case.is_held:
            reasons.setdefault(case.reason, Counter())[case.file.partition("-")[0]] += 1
    for reason, files in reasons.items():
        yield f"| {reason} | {', '.join(f'{number} of {file}' for file, number in files.items())} |"
