"""The code in the documentation, which tests run unchanged."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def code_in(page: str, heading: str, language: str) -> list[str]:
    """The blocks of code in a language below a heading of the third level, up to the next heading."""
    section = (DOCS / page).read_text().partition(f"### {heading}\n")[2].partition("\n##")[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
