"""Carries out a Containerfile in folders of this machine, where no container engine runs.

Each stage is a copy of a Debian with Python, made by debootstrap in place of the image from a registry. Each RUN is
carried out in a chroot. Layers, registries and the engine's own isolation are not checked.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

# Where the machine reaches registries by its own certificates or settings, steps must as well.
_PASSED_ON = re.compile(r"PIP_(CERT|INDEX_URL|DEFAULT_TIMEOUT)|.*_(CERTS?|PROXY)|SSL_CERT_FILE", re.IGNORECASE)
_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
_RESOLVER = Path("/etc/resolv.conf")


@dataclass
class Image:
    """The files of an image, and how it is run."""

    root: Path
    environ: dict[str, str] = field(default_factory=lambda: {"PATH": "/usr/local/bin:/usr/bin:/bin"})
    labels: dict[str, str] = field(default_factory=dict)
    workdir: str = "/"
    user: str = "0:0"
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)

    def run(self, script: str) -> None:
        """Run a shell script in it, as root."""
        passed_on = {name: value for name, value in os.environ.items() if _PASSED_ON.fullmatch(name)}
        mounts = "mount --rbind /proc $0/proc; mount --rbind /dev $0/dev; exec /usr/sbin/chroot $0 sh -c "
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-ec", mounts + '"$1"', self.root, f"cd {self.workdir} && {script}"],
            env={**passed_on, **self.environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"RUN {script}\n{done.stdout}"

    def contained(self, command: Sequence[str], data: Path) -> list[str]:
        """The command that runs a command as a container does.

        Its root is read-only, it may write to /tmp and to the folder `data` as /data, and is the first process.
        """
        script = (
            "mount --bind $0 $0; mount --rbind /dev $0/dev; mount -t proc proc $0/proc; mount -t tmpfs tmpfs $0/tmp;"
            " mount --bind $1 $0/data; mount -o remount,bind,ro $0;"
            ' root=$0 user=${2%:*} group=${2#*:} folder=$3; shift 3; cd "$root$folder";'
            ' exec /usr/sbin/chroot "$root" setpriv --reuid $user --regid $group --clear-groups --no-new-privs'
            ' --bounding-set=-all --inh-caps=-all "$@"'
        )
        namespaces = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", script]
        return [*namespaces, str(self.root), str(data), self.user, self.workdir, *command]


def build(file: Path, context: Path, base: Path, folder: Path) -> Image:
    """The image of the last stage; `base` is the folder that each FROM begins with."""
    variables: dict[str, str] = {}
    stages: dict[str, Image] = {}
    image = Image(base)
    for word, rest in _instructions(file.read_text()):
        text = _filled_in(rest, {**variables, **image.environ})
        match word:
            case "ARG":
                name, _, value = text.partition("=")
                variables[name] = value
            case "FROM":
                name = text.split()[2] if " AS " in text else str(len(stages))
                image = stages[name] = Image(_copy_of(base, folder / name))
            case "RUN":
                image.run(rest)
            case "COPY":
                _copy(shlex.split(text), stages, image, context)
            case _:
                _configure(image, word, text)
    return image


def _configure(image: Image, word: str, text: str) -> None:
    match word:
        case "ENV":
            image.environ |= dict(each.split("=", 1) for each in shlex.split(text))
        case "LABEL":
            image.labels |= dict(each.split("=", 1) for each in shlex.split(text))
        case "WORKDIR":
            image.workdir = text
            (image.root / text.lstrip("/")).mkdir(exist_ok=True)
        case "USER":
            image.user = text
        case "ENTRYPOINT":
            image.entrypoint = json.loads(text)
        case "CMD":
            image.command = json.loads(text)
        case "HEALTHCHECK":
            image.health = json.loads(text.partition("CMD ")[2])
        case "VOLUME" | "EXPOSE" | "STOPSIGNAL":
            pass
        case _:
            raise NotImplementedError(word)


def _instructions(text: str) -> Iterator[tuple[str, str]]:
    lines = "\n".join(line for line in text.splitlines() if line and not line.startswith("#"))
    for line in lines.replace("\\\n", "").splitlines():
        word, _, rest = line.partition(" ")
        yield word, rest.strip()


def _filled_in(text: str, variables: Mapping[str, str]) -> str:
    return re.sub(r"\$\{(\w+)\}", lambda found: variables[found[1]], text)


def _copy_of(base: Path, root: Path) -> Path:
    subprocess.run(["cp", "--archive", "--reflink=auto", base, root], check=True)
    # As in the official image.
    (root / "usr/local/bin/python").symlink_to("/usr/bin/python3")
    for file in (_CERTIFICATES, _RESOLVER):
        shutil.copy(file, root / file.relative_to("/"))
    return root


def _copy(words: list[str], stages: Mapping[str, Image], image: Image, context: Path) -> None:
    stage = words.pop(0).removeprefix("--from=") if words[0].startswith("--from=") else None
    *sources, target = words
    place = image.root / PurePosixPath(image.workdir, target).relative_to("/")
    for name in sources:
        if stage is not None:
            shutil.copytree(stages[stage].root / name.lstrip("/"), place, symlinks=True, dirs_exist_ok=True)
        elif (source := context / name).is_dir():
            shutil.copytree(source, place, ignore=_ignored(context), dirs_exist_ok=True)
        else:
            assert name not in _ignored(context)(str(context), [name]), f"{name} is in .dockerignore"
            shutil.copy(source, place)


class _ignored:  # noqa: N801 - called as a function
    """What .dockerignore leaves out: the last pattern that fits decides."""

    def __init__(self, context: Path) -> None:
        self._context = context
        lines = (context / ".dockerignore").read_text().splitlines()
        self._patterns = [line for line in lines if line and not line.startswith("#")]

    def __call__(self, folder: str, names: list[str]) -> set[str]:
        inside = Path(folder).relative_to(self._context)
        return {name for name in names if self._is_left_out((inside / name).as_posix())}

    def _is_left_out(self, path: str) -> bool:
        left_out = False
        for pattern in self._patterns:
            plain = pattern.removeprefix("!")
            fits = fnmatch(path, plain) or path.startswith(f"{plain}/")
            if plain.startswith("**/"):
                fits = fnmatch(path.rpartition("/")[2], plain[3:])
            elif plain == "*":
                fits = True
            if fits:
                left_out = not pattern.startswith("!")
        return left_out
