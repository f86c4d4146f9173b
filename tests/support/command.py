"""Runs the `flagstaff` command in a separate process."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

_SECONDS = 120  # on a machine that is busy with other tests, too


def run_flagstaff(
    *arguments: str, environ: Mapping[str, str] | None = None, stdin: str = "", directory: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command that ends by itself. It gets only PATH from this process's environment."""
    return subprocess.run(
        [sys.executable, "-m", "flagstaff", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "COLUMNS": "200", **(environ or {})},
        cwd=directory,
        timeout=_SECONDS,
        check=False,
    )
