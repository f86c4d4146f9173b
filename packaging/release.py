"""`make release`: build into dist/ what a release consists of, twice, and fail if the two builds differ.

dist/ then has the wheels and the sdist, the Helm chart, the locked versions, a list of all packages in CycloneDX's form
(the SBOM), and SHA256SUMS. docs/operations/releasing.md says what a person does with them. Zig compiles the loops, for
both architectures and for every Linux with glibc 2.17 or later; the pure wheel, for all other machines, has none.
"""

import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.dependency import Dependency
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

ROOT = Path(__file__).resolve().parents[1]
CHART = ROOT / "packaging" / "helm" / "flagstaff"
NOTICES = ROOT / "dashboard" / "THIRD-PARTY-NOTICES.txt"
LOCKED = ROOT / "requirements" / "run.txt"
ZIG = f"{sys.executable} -m ziglang cc -g0 -s -target {{}}-linux-gnu.2.17"
"""A compiler: without debugging information, which would contain paths, for an architecture and a glibc."""
COMPILERS = {
    "manylinux_2_17_x86_64": ZIG.format("x86_64"),
    "manylinux_2_17_aarch64": ZIG.format("aarch64"),
    "any": "",
}
"""By platform of a wheel, the command that compiles its loops."""
VERSION: str = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def main() -> None:
    """Build twice and compare; move the second build into dist/."""
    if subprocess.check_output(["git", "status", "--porcelain"], cwd=ROOT, text=True):
        sys.exit("A release is built from committed files only: commit or remove what `git status` shows.")
    with TemporaryDirectory() as first, TemporaryDirectory() as second:
        sums = [_build(Path(each)) for each in (first, second)]
        if sums[0] != sums[1]:
            sys.exit(f"Two builds of the same sources differ:\n{sums[0]}\n{sums[1]}")
        made = ROOT / "dist"
        shutil.rmtree(made, ignore_errors=True)
        shutil.copytree(second, made)
        made.chmod(0o755)  # the mode of a temporary folder, which was copied, is stricter
    sys.stdout.write(sums[0])


def _build(folder: Path) -> str:
    """Build everything into a folder, and return the content of SHA256SUMS."""
    checkout = folder / "checkout"
    subprocess.run(["git", "clone", "--quiet", ROOT, checkout], check=True)
    _hatch("sdist", checkout, folder)
    for platform, compiler in COMPILERS.items():
        _hatch("wheel", checkout, folder, WHEEL_PLATFORM=platform, CC=compiler)
    missing = [each for each in COMPILERS if not list(folder.glob(f"*-{each}.whl"))]
    if missing:
        sys.exit(f"No wheel was made for {', '.join(missing)}; see the compiler's message above.")
    shutil.rmtree(checkout)
    for name in ("constraints.txt", "run.txt"):
        shutil.copy(ROOT / "requirements" / name, folder)
    (folder / f"flagstaff-{VERSION}.tgz").write_bytes(pack_chart(CHART))
    (folder / f"flagstaff-{VERSION}.cdx.json").write_text(bill_of_materials())
    files = sorted(folder.iterdir())
    sums = "".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files)
    (folder / "SHA256SUMS").write_text(sums)
    return sums


def _hatch(target: str, checkout: Path, folder: Path, **environ: str) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder), "-t", target]
    subprocess.run(command, cwd=checkout, check=True, stdout=sys.stderr, env={**os.environ, **environ})


def pack_chart(chart: Path) -> bytes:
    """Return a chart as `helm package` packs it, without times and owners."""
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as file, tarfile.open(fileobj=file, mode="w") as archive:
        for path in sorted(each for each in chart.rglob("*") if each.is_file()):
            entry = tarfile.TarInfo(f"{chart.name}/{path.relative_to(chart).as_posix()}")
            entry.size = path.stat().st_size
            with path.open("rb") as content:
                archive.addfile(entry, content)
    return packed.getvalue()


def bill_of_materials() -> str:
    """Return the packages that the wheel requires and those that it contains, in CycloneDX's form, version 1.6.

    It has neither a time nor a random number, so that two builds are equal.
    """
    bom = Bom(components=[*_required(), *_contained()])
    bom.serial_number = None  # type: ignore[assignment]
    bom.metadata.timestamp = None  # type: ignore[assignment]
    own = _component("pypi", "flagstaff", VERSION)
    bom.metadata.component = own
    bom.dependencies = [Dependency(own.bom_ref, [Dependency(each.bom_ref) for each in bom.components])]
    return JsonV1Dot6(bom).output_as_string(indent=2)


def _required() -> Iterator[Component]:
    """Yield the locked Python packages, with the hashes of their files."""
    for found in re.finditer(r"^([a-z0-9-]+)==(\S+)(.*\n(?: .*\n)*)", LOCKED.read_text(), re.MULTILINE):
        yield _component("pypi", found[1], found[2], re.findall(r"sha256:(\w+)", found[3]))


def _contained() -> Iterator[Component]:
    """Yield the packages that the build of the dashboard contains."""
    for name, version in re.findall(r"^(\S+) (\S+) \(\S+\)\n=+$", NOTICES.read_text(), re.MULTILINE):
        yield _component("npm", name, version)


def _component(kind: str, name: str, version: str, hashes: list[str] | None = None) -> Component:
    namespace, _, base = name.rpartition("/")
    address = PackageURL(kind, namespace or None, base, version)
    return Component(
        type=ComponentType.APPLICATION if name == "flagstaff" else ComponentType.LIBRARY,
        name=name,
        version=version,
        purl=address,
        bom_ref=str(address),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=each) for each in hashes or []],
    )


if __name__ == "__main__":
    main()
