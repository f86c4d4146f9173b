"""Builds the tools for the checks with Go, once: `python -m tests.packages.tools`. They are kept in `build/tools`."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

FOLDER = Path(__file__).parents[2] / "build" / "tools"
PROGRAMS = {
    "caddy": "github.com/caddyserver/caddy/v2/cmd/caddy@v2.11.9",
    "kubeconform": "github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0",
    "helm": "helm.sh/helm/v4/cmd/helm@v4.3.1",
}
KUBERNETES = ("1.27.0", "1.37.0")
"""The oldest and the newest Kubernetes whose schemas are used."""
SCHEMAS = FOLDER / "schemas"
_SCHEMAS_PACKAGE = "kubernetes-validate==1.37.0"


def program(name: str) -> Path:
    """Return the path of a tool, and install it if it is missing."""
    return FOLDER / name


def main() -> None:
    """Install the missing tools."""
    go = shutil.which("go")
    if go is None:
        sys.exit("The checks of packages need Go 1.25 or later, which builds their tools.")
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, module in PROGRAMS.items():
        version = FOLDER / f"{name}.version"
        if version.is_file() and version.read_text() == module:
            continue
        sys.stdout.write(f"Building {name} (once; some minutes) …\n")
        sys.stdout.flush()
        subprocess.run([go, "install", module], env={**os.environ, "GOBIN": str(FOLDER)}, check=True)
        version.write_text(module)
    # Docker Compose cannot be installed with Go, but its library can be used.
    subprocess.run(
        [go, "build", "-buildvcs=false", "-o", program("compose"), "."],
        cwd=Path(__file__).parent / "compose",
        check=True,
    )
    if not SCHEMAS.is_dir():
        _install_schemas()


def _install_schemas() -> None:
    """Install the strict schemas from a Python package, with references that kubeconform can follow."""
    with TemporaryDirectory() as name:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile"]
        subprocess.run([*pip, "--target", name, _SCHEMAS_PACKAGE], check=True)
        packaged = Path(name) / "kubernetes_validate" / "kubernetes-json-schema"
        for version in KUBERNETES:
            folder = SCHEMAS / f"v{version}"
            folder.mkdir(parents=True)
            for schema in (packaged / f"v{version}-local-strict").glob("*.json"):
                content = json.loads(schema.read_text().replace('"/api/_definitions.json', '"_definitions.json'))
                content.pop("$id", None)  # references would be relative to it
                (folder / schema.name).write_text(json.dumps(content))


if __name__ == "__main__":
    main()
