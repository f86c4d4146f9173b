"""The commands in the README's quickstart and on two pages of the documentation, executed against a real server."""

import os
from pathlib import Path

import pytest

from tests.support.server import ServerProcess
from tests.support.snippets import needs_shell, run_and_compare
from tests.support.stores import sqlite_store

ROOT = Path(__file__).parents[1]
QUICKSTART = (ROOT / "README.md").read_text().partition("\n## Quickstart\n")[2].partition("\n## ")[0]
TARGETING = (ROOT / "docs" / "targeting.md").read_text()
RELEASES = (ROOT / "docs" / "releases.md").read_text().partition("\n## Steps\n")[0]


@needs_shell
@pytest.mark.parametrize("text", [QUICKSTART, TARGETING, RELEASES], ids=["quickstart", "targeting", "releases"])
async def test_the_commands_print_what_the_page_says(text: str, sqlite_template: Path, data_directory: Path) -> None:
    async with ServerProcess(sqlite_store(sqlite_template, data_directory)) as server:
        await run_and_compare(text, {"PATH": os.environ["PATH"], "BASE": server.url})
