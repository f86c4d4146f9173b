"""The dashboard has words for every field that the audit trail records, or hides the field."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from flagstaff.changes.changes import OWN_FIELDS, recorded
from tests.support.events_page import RESOURCES

SOURCES = Path(__file__).parents[1] / "dashboard" / "src"


def words() -> set[str]:
    """Return the fields that texts name, and those that changes leave out."""
    left_out = re.search(
        r"UNSPOKEN = new Set\(\[(.*?)\]\)", (SOURCES / "lib" / "changes" / "changes.ts").read_text(), re.DOTALL
    )
    assert left_out is not None
    named = set(re.findall(r'"(\w+)"', left_out[1]))
    for name in ("changes", "changeSentences"):
        fields_of = re.search(r"  fields: \{(.*?)\} as", (SOURCES / "texts" / f"{name}.ts").read_text(), re.DOTALL)
        assert fields_of is not None
        named |= set(re.findall(r"^ +(\w+):", fields_of[1], re.MULTILINE))
    return named


@pytest.mark.parametrize("kind", RESOURCES)
def test_every_recorded_field_has_a_name_in_words_or_is_left_out(kind: str) -> None:
    resource = RESOURCES[kind]
    assert fields(resource)
    assert recorded(resource).keys() - OWN_FIELDS - words() == set()
