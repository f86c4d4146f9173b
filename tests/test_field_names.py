"""The dashboard has words for every field that the audit trail records, or hides the field."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from flagstaff.changes.changes import OWN_FIELDS, recorded
from tests.support.events_page import RESOURCES

CHANGES = Path(__file__).parents[1] / "dashboard" / "src" / "ui" / "changes"


def words() -> set[str]:
    """Return the fields that texts name, and those that changes leave out."""
    left_out = re.search(r"UNSPOKEN = new Set\(\[(.*?)\]\)", (CHANGES / "changes.ts").read_text(), re.DOTALL)
    fields_of = re.search(r"  fields: \{(.*?)\} as", (CHANGES / "changesTexts.ts").read_text(), re.DOTALL)
    assert left_out is not None
    assert fields_of is not None
    return {*re.findall(r'"(\w+)"', left_out[1]), *re.findall(r"^ +(\w+):", fields_of[1], re.MULTILINE)}


@pytest.mark.parametrize("kind", RESOURCES)
def test_every_recorded_field_has_a_name_in_words_or_is_left_out(kind: str) -> None:
    resource = RESOURCES[kind]
    assert fields(resource)
    assert recorded(resource).keys() - OWN_FIELDS - words() == set()
