"""ClickHouse's engine behind an HTTP front, in a process of its own; `make test-clickhouse` installs it."""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Self

import httpx

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv" / "clickhouse" / "bin" / "python"
PASSWORD = "a password/with@signs"
QUOTED = "a%20password%2Fwith%40signs"


class ClickHouseEngine:
    """An engine with faults that a test orders."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="flagstaff-clickhouse-"))
        self._process: subprocess.Popen[str] | None = None
        self.port = 0

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def url(self) -> str:
        """The URL, as in FLAGSTAFF_CLICKHOUSE_URL."""
        return f"http://default:{QUOTED}@127.0.0.1:{self.port}"

    @property
    def process_id(self) -> int:
        """The process of a running engine."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start the engine, on its earlier port if it had one."""
        command = [PYTHON, Path(__file__).with_name("clickhouse_engine.py"), self._folder, PASSWORD, str(self.port)]
        self._process = subprocess.Popen([str(each) for each in command], stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    def kill(self) -> None:
        """End the engine at once: SIGKILL."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def fault(self, kind: str, count: int = 1) -> None:
        """Order faults for the next INSERTs."""
        httpx.post(f"http://127.0.0.1:{self.port}/fault", params={"kind": kind, "count": count}).raise_for_status()

    def received(self) -> list[str]:
        """Return the tokens of the INSERTs that were executed, including repeated ones."""
        found: list[str] = httpx.get(f"http://127.0.0.1:{self.port}/received").json()
        return found

    def query(self, query: str, *, timeout_seconds: float = 60) -> str:
        """The answer to a query, as text."""
        headers = {"x-clickhouse-key": PASSWORD}
        answer = httpx.post(f"http://127.0.0.1:{self.port}/", content=query, headers=headers, timeout=timeout_seconds)
        assert answer.status_code == 200, answer.text
        return answer.text.strip()

    def numbers(self, query: str) -> dict[str, int]:
        """Return the numbers in the only row of an answer."""
        (row,) = json.loads(self.query(f"{query} FORMAT JSON"))["data"]
        return {name: int(value) for name, value in row.items()}
