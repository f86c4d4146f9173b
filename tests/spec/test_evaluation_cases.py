"""The language-neutral cases of spec/evaluation, run with the compiler and evaluator, and with the naive evaluator."""

import json
from collections.abc import Collection, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from flagstaff.conditions.compiled_conditions import check_conditions
from flagstaff.conditions.conditions import Condition
from flagstaff.conditions.operators import Operator
from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.evaluation.snapshot_assembly import compile_environment
from flagstaff.evaluation.targets import CURRENT_TIME
from flagstaff.flags.flags import (
    DEFAULT_STICKINESS,
    Fallthrough,
    RuleType,
    check_bucketing_key,
    check_priority,
    check_rule_percentage,
    check_rule_value,
    check_stickiness,
)
from flagstaff.flags.prerequisites import check_prerequisites
from flagstaff.flags.variant_schemas import read_prerequisites, read_variants
from flagstaff.flags.variants import check_variants
from flagstaff.projects.projects import Environment
from flagstaff.serving.context import read_attributes
from flagstaff.values.keys import check_flag_key
from tests.support.builders import AT, make_environment, make_flag, make_rule, make_segment
from tests.support.loops import evaluate
from tests.support.naive import evaluate_naively

FILES = sorted((Path(__file__).parents[2] / "spec" / "evaluation").glob("*.json"))
NAMED_CASES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    (f"{file.stem}-{number}", document, case)
    for file in FILES
    for document in [json.loads(file.read_text())]
    for number, case in enumerate(document["cases"], start=1)
]
CASES = [pytest.param(document, case, id=name) for name, document, case in NAMED_CASES]
ENVIRONMENT = make_environment()


def targeted(values: dict[str, Any], environment: Environment = ENVIRONMENT) -> TargetedFlag:
    """Return a flag of a file, after checking it by the rules for flags."""
    flag = make_flag(
        environment,
        key=check_flag_key(values["key"]),
        enabled=values["enabled"],
        rollout_percentage=values["rollout_percentage"],
        fallthrough=Fallthrough(values.get("fallthrough", "rollout")),
        bucketing_key=check_bucketing_key(values["bucketing_key"]) if "bucketing_key" in values else None,
        stickiness=check_stickiness(values.get("stickiness", DEFAULT_STICKINESS)),
        variants=check_variants(read_variants(values.get("variants", []))),
        prerequisites=check_prerequisites(read_prerequisites(values.get("prerequisites", []))),
    )
    rules = [
        make_rule(
            flag,
            rule_type=RuleType(rule["rule_type"]),
            rule_value=check_rule_value(RuleType(rule["rule_type"]), rule["rule_value"]),
            priority=check_priority(rule["priority"]),
            enabled=rule["enabled"],
            created_at=AT + timedelta(seconds=age),
            conditions=check_conditions([read_condition(each) for each in rule.get("conditions", [])]),
            variant=rule.get("variant"),
            rollout_percentage=check_rule_percentage(rule.get("rollout_percentage", 100)),
        )
        # In reverse order, so that neither the ids nor the order in the store agree with the age.
        for age, rule in reversed([*enumerate(values["rules"])])
    ]
    return TargetedFlag(flag, rules)


def _attributes(custom: dict[str, Any], wanted: Collection[str]) -> Mapping[str, object]:
    """Return the attributes as the endpoint reads them from a body."""
    given = {name: msgspec.Raw(json.dumps(value).encode()) for name, value in custom.items()}
    return {**read_attributes(given, wanted), CURRENT_TIME: AT}


def read_condition(values: dict[str, Any]) -> Condition:
    """Return a condition of a file."""
    given = {**values, "operator": Operator(values["operator"]), "values": tuple(values["values"])}
    return Condition(**given)


@pytest.mark.parametrize(("document", "case"), CASES)
def test_both_evaluators_answer_as_the_case_says(document: dict[str, Any], case: dict[str, Any]) -> None:
    segments = [
        make_segment(key=key, conditions=check_conditions(list(map(read_condition, conditions))))
        for key, conditions in document.get("segments", {}).items()
    ]
    flags = list(map(targeted, document["flags"]))
    snapshot = compile_environment(ENVIRONMENT, flags, segments)
    context = case["context"] or {}
    targeting = snapshot.targeting
    attributes = _attributes(context.get("custom_attributes", {}), targeting.attributes if targeting else ())
    user = context.get("user_id"), context.get("user_email"), attributes
    body, _ = evaluate(snapshot, *user)
    assert json.loads(body) == {"flags": case["expected"]}
    conditions_by_key = {segment.key: segment.conditions for segment in segments}
    pairs = [(each.flag, each.rules) for each in flags]
    assert evaluate_naively(pairs, *user, segments=conditions_by_key) == case["expected"]


def test_the_cases_show_every_reason() -> None:
    reasons = {answer["reason"] for _, _, case in NAMED_CASES for answer in case["expected"].values()}
    for reason in (
        "Flag is globally disabled",
        "Matched user_id targeting rule",
        "Matched user_email targeting rule",
        "Matched email_domain targeting rule",
        "User in 100% rollout",
        "User not in 99% rollout",
        "Flag enabled globally",
        "No targeting rule matched",
        "Matched attributes targeting rule",
        "Matched segment targeting rule",
        "Prerequisite payments is not met",
    ):
        assert reason in reasons


def test_the_cases_show_every_operator_met_and_not_met_with_and_without_negate() -> None:
    shown = {
        (condition["operator"], condition.get("negate", False), case["expected"][flag["key"]]["enabled"])
        for _, document, case in NAMED_CASES
        for flag in document["flags"]
        if flag.get("fallthrough") == "off" and len(flag["rules"]) == 1
        for condition in flag["rules"][0].get("conditions", [])
    }
    assert shown >= {
        (operator, negate, met) for operator in Operator for negate in (False, True) for met in (False, True)
    }
