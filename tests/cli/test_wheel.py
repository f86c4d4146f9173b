"""The wheel serves on its own: without a checkout, in an empty folder, with the migrations that it contains."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from flagstaff.evaluation import loops
from tests.support.remote import RemoteCaller
from tests.support.server import COMMAND, ServerProcess
from tests.support.stores import Store

ROOT = Path(__file__).parents[2]


def run(*command: str | Path, environ: Mapping[str, str] = os.environ) -> str:
    """Run a command that must succeed, and return its output."""
    outcome = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=120, check=False)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    return outcome.stdout


def imported_from(environ: Mapping[str, str]) -> Path:
    """Return the file from which a process with this environment imports the package."""
    return Path(run(sys.executable, "-c", "import flagstaff; print(flagstaff.__file__)", environ=environ).strip())


async def test_the_wheel_serves_from_an_empty_folder(tmp_path: Path) -> None:
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path / "dist")
    (wheel,) = (tmp_path / "dist").glob("flagstaff-*.whl")
    site = tmp_path / "site"
    run(sys.executable, "-m", "zipfile", "-e", wheel, site)
    assert not list(site.glob("tests*"))
    # Compiled code limits the wheel to one platform, and to this and all later versions of Python.
    is_compiled = (site / "flagstaff" / "evaluation" / "_loops.abi3.so").is_file()
    assert is_compiled is ("-cp311-abi3-" in wheel.name) is not wheel.name.endswith("-py3-none-any.whl")
    assert is_compiled is (loops.WHY_NOT_COMPILED is None)
    environ = {"PYTHONPATH": str(site)}  # it precedes the checkout, which is installed as editable
    assert imported_from(environ) == site / "flagstaff" / "__init__.py"
    store = Store(None, tmp_path / "data")
    async with ServerProcess(store, environ, command=COMMAND) as server, RemoteCaller(server.url) as caller:
        await caller.sign_up()
        project = await caller.create_project()
        await caller.create_flag(await caller.get_environment(project), key="flag")
        answer = await caller.evaluate(project["sdk_key"])
        assert answer.json() == {"flags": {"flag": {"enabled": True, "reason": "Flag enabled globally"}}}
        assert (await caller.get("/docs")).status_code == 200
