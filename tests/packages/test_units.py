"""Tests of the systemd unit: it is valid, and the server works within its restrictions."""

import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from tests.support.debian import find_or_install, leave_out
from tests.support.ports import free_port
from tests.support.processes import children_of

SERVICE = Path(__file__).parents[2] / "packaging" / "systemd" / "flagstaff.service"
_WORST_EXPOSURE = 1.5
_ACCOUNT = {"email": "ada@example.com", "password": "correct horse battery staple"}


@pytest.fixture
def analyze() -> str:
    found = find_or_install(["systemd-analyze"], "systemd")
    if found is None:
        leave_out("No systemd-analyze was found and none could be installed.")
    assert found is not None
    return found


def confine() -> None:
    """Apply MemoryDenyWriteExecute= and NoNewPrivileges= in the server's process."""
    libc = ctypes.CDLL(None)
    pr_set_mdwe, pr_set_no_new_privileges = 65, 38
    assert libc.prctl(pr_set_mdwe, 1, 0, 0, 0) == 0
    assert libc.prctl(pr_set_no_new_privileges, 1, 0, 0, 0) == 0
    os.execv(sys.executable, [sys.executable, "-m", "flagstaff", "serve"])


def test_systemd_accepts_the_unit(analyze: str, tmp_path: Path) -> None:
    unit = tmp_path / SERVICE.name
    unit.write_text(SERVICE.read_text().replace("/opt/flagstaff/bin/flagstaff", "/bin/true"))
    checked = subprocess.run([analyze, "verify", unit], capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_the_unit_is_confined(analyze: str) -> None:
    said = subprocess.run([analyze, "security", "--offline=true", SERVICE], capture_output=True, text=True, check=False)
    exposure = re.search(r"exposure level for flagstaff.service: ([\d.]+)", said.stdout)
    assert exposure, said.stderr
    assert float(exposure[1]) <= _WORST_EXPOSURE, said.stdout


def test_the_server_does_all_that_it_does_within_the_unit(analyze: str, tmp_path: Path) -> None:
    """It makes no refused system call, and needs only its own processes in /proc and no writable code."""
    strace = find_or_install(["strace"], "strace")
    if strace is None or os.geteuid() != 0 or shutil.which("unshare") is None:
        leave_out("The server runs confined, which takes root, unshare and strace.")
    port = free_port()
    environ = {**os.environ, "FLAGSTAFF_PORT": str(port), "FLAGSTAFF_DATA_DIR": str(tmp_path / "data")}
    environ |= {"FLAGSTAFF_DRAIN_SECONDS": "0", "FLAGSTAFF_WORKERS": "2"}
    program = "from tests.packages.test_units import confine; confine()"
    script = 'mount -t proc -o subset=pid,hidepid=invisible proc /proc; exec "$0" "$@"'
    trace = tmp_path / "trace"
    command = [str(strace), "-f", "-qq", "-e", "signal=none", "-o", str(trace), sys.executable, "-c", program]
    server = subprocess.Popen(
        ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", script, *command],
        env=environ,
        cwd=Path(__file__).parents[2],
    )
    try:
        use(f"http://127.0.0.1:{port}", server)
        inside = children_of(server.pid)[0]
        traced = children_of(inside)[0]
        os.kill(traced, signal.SIGTERM)
        assert server.wait(60) == 0
    finally:
        server.kill()
        server.wait()
    called = set(re.findall(r"^\d+ +(?:<\.\.\. )?(\w+)[( ]", trace.read_text(), re.MULTILINE))
    assert {"execve", "epoll_wait", "mmap"} <= called
    assert called - allowed(analyze) == {"fchown"}  # SQLite calls it only as root


def use(url: str, server: subprocess.Popen[bytes]) -> None:
    """Hash a password, write a change, and evaluate."""
    deadline = time.monotonic() + 90
    with httpx.Client(base_url=url, timeout=30) as client:
        while True:
            assert server.poll() is None
            assert time.monotonic() < deadline
            with suppress(httpx.TransportError):
                if client.get("/ready").is_success:
                    break
            time.sleep(0.1)
        assert client.post("/auth/register", json=_ACCOUNT).status_code == 201
        token = client.post("/auth/login", json=_ACCOUNT).json()["token"]
        project = client.post(
            "/api/projects", json={"name": "Shop"}, headers={"Authorization": f"Bearer {token}"}
        ).json()
        evaluated = client.post(
            "/sdk/v1/evaluate", json={"environment": "production"}, headers={"X-SDK-Key": project["sdk_key"]}
        )
        assert evaluated.json() == {"flags": {}}


def allowed(analyze: str) -> set[str]:
    """Return the system calls that the unit's filters allow."""
    groups: dict[str, set[str]] = {}
    name = ""
    listed = subprocess.run(
        [analyze, "syscall-filter", "--no-pager"], capture_output=True, text=True, check=True
    ).stdout
    for line in listed.splitlines():
        if line.startswith("@"):
            name = line.strip()
            groups[name] = set()
        elif name and (word := line.strip()) and not word.startswith("#"):
            groups[name].add(word)

    def members(group: str) -> set[str]:
        return {call for word in groups[group] for call in (members(word) if word.startswith("@") else {word})}

    filters = re.findall(r"^SystemCallFilter=(~?)(@[\w-]+)$", SERVICE.read_text(), re.MULTILINE)
    calls: set[str] = set()
    for denies, group in filters:
        calls = calls - members(group) if denies else calls | members(group)
    return calls
