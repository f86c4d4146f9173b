"""`make serve` in a fresh clone of the repository, on a machine with few tools.

An ordinary user, a umask of 077, a path with a space, neither Node nor a C compiler, and no cache of packages.
"""

import fnmatch
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.pythons.interpreters import ROOT, Interpreter
from tests.support.ports import free_port

_MISSING = (
    "node",
    "nodejs",
    "npm",
    "npx",
    "corepack",
    "cc",
    "c[89]9",
    "tcc",
    "*gcc*",
    "*clang*",
    "*g++*",
    "python*",
    "pyenv",
)
_PASSED_ON = (
    "PIP_",
    "UV_",
    "SSL_",
    "HTTP",
    "http",
    "NO_PROXY",
    "no_proxy",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
)
_NOBODY = 65_534
_START_SECONDS = 900


def serve_as_newcomer(interpreters: Sequence[Interpreter]) -> str:
    """Clone, serve and use it, with the newest interpreter that the user can run; return what was done.

    Raises:
        AssertionError: with what `make serve` has printed, if anything is wrong.
    """
    with tempfile.TemporaryDirectory() as name:
        home = Path(name) / "new comer"
        home.mkdir()
        Path(name).chmod(0o755)
        identity = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        python = next((each for each in reversed(interpreters) if _can_run(each, identity)), None)
        assert python is not None, "an ordinary user can run no Python of this machine that makes virtual environments"
        checkout = _clone(home / "flags")
        if identity:
            subprocess.run(["chown", "-R", f"{_NOBODY}:{_NOBODY}", home], check=True)
        began = time.monotonic()
        with _make_serve(checkout, _environ(home, python), identity) as (url, log):
            served = time.monotonic() - began
            _use(url)
            assert "Bringing Node" in log.read_text()
            assert '"evaluation": "in Python"' in log.read_text()
            exposed = [path for path in (checkout / "flagstaff-data").rglob("*") if path.stat().st_mode & 0o077]
            assert not exposed, exposed
    return f"Python {python.name}: `make serve` served after {served:.0f} s"


def _can_run(interpreter: Interpreter, identity: dict[str, object]) -> bool:
    try:
        command = [interpreter.path, "-c", "import ensurepip, venv"]
        return not subprocess.run(command, capture_output=True, check=False, cwd="/", **identity).returncode  # type: ignore[call-overload]
    except OSError:
        return False


def _clone(checkout: Path) -> Path:
    """Create a checkout of the files that would be committed now."""
    files = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout
    for file in filter(None, files.decode().split("\0")):
        if (ROOT / file).is_file():  # a deletion may not be staged yet
            (checkout / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, checkout / file)
    return checkout


def _environ(home: Path, python: Interpreter) -> dict[str, str]:
    """Return the system's programs without those that the newcomer lacks, and the machine's registries."""
    programs = home / "bin"
    programs.mkdir()
    for folder in (Path("/usr/bin"), Path("/bin")):
        for program in folder.iterdir():
            link = programs / program.name
            if not link.is_symlink() and not any(fnmatch.fnmatch(program.name, each) for each in _MISSING):
                link.symlink_to(program)
    (programs / "python3").symlink_to(python.path)
    environ = {name: value for name, value in os.environ.items() if name.startswith(_PASSED_ON)}
    if shutil.which("npm"):
        asked = subprocess.run(["npm", "config", "get", "registry"], capture_output=True, text=True, check=True)
        environ["npm_config_registry"] = asked.stdout.strip()
    return {**environ, "HOME": str(home), "PATH": str(programs), "FLAGSTAFF_PORT": str(free_port())}


@contextmanager
def _make_serve(checkout: Path, environ: dict[str, str], identity: dict[str, object]) -> Iterator[tuple[str, Path]]:
    """Run `make serve` in a checkout until it is ready; yield its address, and the file with its output."""
    log = checkout.with_name("log")
    url = f"http://127.0.0.1:{environ['FLAGSTAFF_PORT']}"
    with log.open("wb") as output:
        process = subprocess.Popen(  # type: ignore[call-overload]
            ["make", "serve"],
            cwd=checkout,
            env=environ,
            stdout=output,
            stderr=output,
            umask=0o077,
            start_new_session=True,
            **identity,
        )
    try:
        ends = time.monotonic() + _START_SECONDS
        while not _is_ready(url):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < ends, log.read_text()
            time.sleep(0.2)
        yield url, log
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)


def _is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/ready").is_success
    except httpx.TransportError:
        return False


def _use(url: str) -> None:
    """Do what a new user does first."""
    assert '<div id="root">' in httpx.get(f"{url}/").text
    account = {"email": "ada@example.com", "password": "password123"}
    assert httpx.post(f"{url}/auth/register", json=account).status_code == 201
    assert "token" in httpx.post(f"{url}/auth/login", json=account).json()
