"""Runs the `flagstaff` command in a separate process."""

import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from tests.support.forks import ForkedProcess

_SECONDS = 120  # on a machine that is busy with other tests, too


def run_flagstaff(
    *arguments: str,
    environ: Mapping[str, str] | None = None,
    stdin: str = "",
    directory: Path | None = None,
    open_files: int | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a command that ends by itself. It gets only PATH from this process's environment.

    `open_files` lowers the system's limit.
    """
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        given.write(stdin.encode())
        given.seek(0)
        process = ForkedProcess(
            arguments,
            environ={"PATH": os.environ["PATH"], "COLUMNS": "200", **(environ or {})},
            given=given,
            output=output,
            errors=errors,
            directory=directory,
            open_files=open_files,
        )
        try:
            status = process.wait_blocking(_SECONDS)
        finally:
            process.kill()
        printed = [_read(stream) for stream in (output, errors)]
    return subprocess.CompletedProcess(["flagstaff", *arguments], status, *printed)


def _read(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode()
