"""The greeting of `flagstaff serve`: at a terminal, the first steps for a person; otherwise one line."""

import sys
from collections.abc import Iterator

import structlog

from flagstaff import __version__
from flagstaff.database.sqlite.files import CONFIGURATION_FILE
from flagstaff.evaluation import loops
from flagstaff.settings import Settings

log = structlog.get_logger(__name__)


def is_first_start(settings: Settings) -> bool:
    """Return whether the data directory has no database yet. Of PostgreSQL, that is not known before a connection."""
    return settings.database_url is None and not (settings.data_dir / CONFIGURATION_FILE).exists()


def greet(settings: Settings, port: int, workers: int, *, is_first: bool) -> None:
    """Print where the server can be reached, and log it, unless a person sees the printed lines among the entries."""
    url = settings.public_url if settings.port else f"http://{settings.host}:{port}"
    for_person = sys.stdout.isatty()
    if not (for_person and sys.stderr.isatty() and settings.log_format != "json"):
        _log(settings, url, port, workers)
    lines = _for_person(settings, url, workers, is_first=is_first) if for_person else [_line(settings, url, workers)]
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


def _log(settings: Settings, url: str, port: int, workers: int) -> None:
    log.info(
        "serving",
        url=url,
        host=settings.host,
        port=port,
        workers=workers,
        evaluation="compiled" if loops.WHY_NOT_COMPILED is None else "in Python",
        policy="common passwords accepted" if settings.accepts_common_passwords else "common passwords refused",
    )


def _line(settings: Settings, url: str, workers: int) -> str:
    store = "PostgreSQL" if settings.database_url else f"SQLite in {settings.data_dir}"
    means = store if workers == 1 else f"{store}, {workers} workers"
    return f"Flagstaff {__version__} serves on {url} ({means}). Ctrl-C stops it."


def _for_person(settings: Settings, url: str, workers: int, *, is_first: bool) -> Iterator[str]:
    yield ""
    yield f"Flagstaff {__version__} serves on {url}"
    yield ""
    data = f"SQLite in {settings.data_dir.absolute()}"
    if settings.database_url:
        yield f"  Data       PostgreSQL; mails and the secret key in {settings.data_dir.absolute()}"
    else:
        yield f"  {'Created' if is_first else 'Data':<9}  {data}"
    if is_first:
        yield f"  Begin      {_first_step(settings, url)}"
    docs = url if settings.internal_port is None else f"http://{settings.host}:{settings.internal_port}"
    yield f"  API        {docs}/docs"
    if workers > 1:
        yield f"  Workers    {workers}"
    if settings.accepts_common_passwords:
        reach = "only this machine can reach the server" if settings.is_local else "FLAGSTAFF_COMMON_PASSWORDS=accept"
        yield f"  Passwords  common ones are accepted: {reach}"
    if loops.WHY_NOT_COMPILED is not None:
        yield "  Speed      evaluations run in Python, more slowly; `flagstaff doctor` says why"
    yield "  Stop       Ctrl-C"
    yield ""


def _first_step(settings: Settings, url: str) -> str:
    if settings.registration == "closed":
        return "create the first account, the administrator: flagstaff users create EMAIL"
    return f"open {url} and create the first account, the administrator"
