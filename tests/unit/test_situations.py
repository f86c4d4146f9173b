"""The situations in which nothing can be written: the page that lists them, and files that are in none."""

import os
from pathlib import Path

from flagstaff.database.situations import find_file_situation, list_situations

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "situations.md"


def test_the_page_has_the_table_of_the_code() -> None:
    rows = [f"| {each.cause} | {each.step} |" for each in list_situations()]
    assert [line for line in PAGE.read_text().splitlines() if line.startswith("| ")][1:] == rows


def test_a_file_system_that_does_not_say_how_large_it_is_is_not_full() -> None:
    file = Path("/proc/self/comm")  # which can be written
    assert os.statvfs(file).f_blocks == 0
    assert find_file_situation(file) is None
