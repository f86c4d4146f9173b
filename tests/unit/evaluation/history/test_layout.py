"""The encoding of evaluations: the digest of a layout, and the meaning of its bytes."""

from dataclasses import replace

import pytest

from flagstaff.evaluation.history.layout import Decider, Layout, LayoutFlag
from flagstaff.evaluation.outcomes import Outcome
from tests.support.builders import make_flag

ROLLOUT = LayoutFlag(make_flag().id, "checkout", 25, Outcome.NOT_IN_ROLLOUT)
OFF = LayoutFlag(make_flag().id, "search", 0, Outcome.OFF)
LAYOUT = Layout(recorded=(ROLLOUT,), constant=(OFF,))


@pytest.mark.parametrize("recorded", [b"", b"\x00\x00"])
def test_bytes_of_another_length_are_refused(recorded: bytes) -> None:
    with pytest.raises(ValueError, match="does not fit"):
        LAYOUT.outcomes(recorded)


@pytest.mark.parametrize(
    ("byte", "outcome"),
    [
        (0, Outcome.IN_ROLLOUT),
        (24, Outcome.IN_ROLLOUT),
        (25, Outcome.NOT_IN_ROLLOUT),
        (99, Outcome.NOT_IN_ROLLOUT),
        (100, Outcome.NOT_IN_ROLLOUT),
        (102, Outcome.USER_ID_RULE),
        (103, Outcome.USER_EMAIL_RULE),
        (104, Outcome.EMAIL_DOMAIN_RULE),
    ],
)
def test_a_byte_stands_for_an_outcome(byte: int, outcome: Outcome) -> None:
    assert LAYOUT.outcomes(bytes((byte,))) == [(ROLLOUT, outcome), (OFF, Outcome.OFF)]
    assert ROLLOUT.outcomes_by_byte[byte] == outcome


def test_the_digest_is_sixteen_bytes_of_the_content_alone() -> None:
    same = Layout(recorded=(replace(ROLLOUT),), constant=(replace(OFF),))
    assert len(LAYOUT.digest) == 16
    assert same.digest == LAYOUT.digest


def test_every_difference_makes_another_digest() -> None:
    others = [
        Layout((), ()),
        Layout((), (ROLLOUT, OFF)),
        Layout((ROLLOUT, OFF), ()),
        Layout((OFF,), (ROLLOUT,)),
        Layout((replace(ROLLOUT, id=make_flag().id),), (OFF,)),
        Layout((replace(ROLLOUT, key="checkouts"),), (OFF,)),
        Layout((replace(ROLLOUT, rollout_percentage=26),), (OFF,)),
        Layout((replace(ROLLOUT, default=Outcome.ON),), (OFF,)),
        Layout((ROLLOUT,), (replace(OFF, default=Outcome.ON),)),
    ]
    digests = {layout.digest for layout in others} | {LAYOUT.digest}
    assert len(digests) == len(others) + 1


def test_a_layout_has_the_lowest_version_that_can_hold_it() -> None:
    newer = replace(OFF, default=Outcome.NO_RULE)
    assert (LAYOUT.version, LAYOUT.outcome_count) == (1, 7)
    for layout in (Layout((ROLLOUT,), (newer,)), Layout((newer,), ())):
        assert (layout.version, layout.outcome_count) == (2, 8)


RULES = (Decider(Outcome.ATTRIBUTES_RULE, make_flag().id), Decider(Outcome.USER_ID_RULE, make_flag().id))


def test_a_flag_with_conditions_says_which_rule_decided_and_in_which_bucket_the_user_was() -> None:
    plain, ruled = replace(ROLLOUT, key="plain"), replace(ROLLOUT, deciders=RULES)
    counted = replace(ruled, key="counted", has_bucket=True)
    layout = Layout((plain, counted, ruled), ())
    assert (layout.width, layout.version, layout.outcome_count) == (4, 3, 10)
    decisions = layout.decisions(bytes((7, 102, 101, 30)))
    assert [(each.outcome, each.rule_id, each.bucket) for each in decisions] == [
        (Outcome.IN_ROLLOUT, None, 7),
        (Outcome.USER_ID_RULE, RULES[1].rule_id, 30),
        (Outcome.ATTRIBUTES_RULE, RULES[0].rule_id, None),
    ]
    assert [counted.outcomes_by_byte[byte] for byte in (0, 25, 100, 101, 102, 103)] == [4, 5, 5, 8, 1, 255]


@pytest.mark.parametrize(
    "newer",
    [
        replace(ROLLOUT, variants=("a", "b")),
        replace(ROLLOUT, deciders=(Decider(Outcome.PREREQUISITE, prerequisite="b"),)),
    ],
)
def test_a_layout_with_variants_or_prerequisites_has_version_four(newer: LayoutFlag) -> None:
    for flags in ((newer,), (replace(OFF, deciders=RULES), newer)):
        layout = Layout(flags, ())
        assert (layout.version, layout.outcome_count) == (4, 11)


def test_each_flag_is_found_with_its_own_columns() -> None:
    counted = replace(ROLLOUT, key="counted", deciders=RULES, has_bucket=True)
    varied = replace(ROLLOUT, key="varied", variants=("a", "b"))
    both = replace(counted, key="both", variants=("c", "d"))
    layout = Layout((ROLLOUT, counted, varied, both), (OFF,))
    recorded = bytes((7, 101, 8, 102, 30, 1, 31, 0))
    decisions = layout.decisions(recorded)
    assert [(each.bucket, each.variant) for each in decisions] == [
        (7, None),
        (30, None),
        (8, "b"),
        (31, "c"),
        (None, None),
    ]
    assert [layout.decision_of(position, recorded) for position in range(4)] == decisions[:4]


def test_flags_are_found_by_their_key_and_id() -> None:
    for position, flag in ((0, ROLLOUT), (None, OFF)):
        assert LAYOUT.find_flag(flag.key) == LAYOUT.find_flag_by_id(flag.id) == (position, flag)
    assert LAYOUT.find_flag("other") is LAYOUT.find_flag_by_id(make_flag().id) is None


def test_what_decides_a_flag_is_part_of_the_digest() -> None:
    flags = [
        ROLLOUT,
        replace(ROLLOUT, deciders=RULES),
        replace(ROLLOUT, deciders=RULES[:1]),
        replace(ROLLOUT, deciders=RULES, has_bucket=True),
    ]
    assert len({Layout((flag,), ()).digest for flag in flags}) == len(flags)


def test_a_layout_of_a_snapshot_that_looks_at_attributes_names_them() -> None:
    layouts = [LAYOUT, replace(LAYOUT, attributes=("plan",)), replace(LAYOUT, attributes=("plan", "seats"))]
    assert len({layout.digest for layout in layouts}) == len(layouts)
    assert [layout.version for layout in layouts] == [1, 5, 5]
    assert layouts[1].outcome_count == 11
