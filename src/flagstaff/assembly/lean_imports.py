"""Imports libraries without their parts that nothing here uses, which would take 28 MB and a tenth of the start.

It must run before anything else imports these libraries. Where a library has moved such a part, it is loaded as usual.
"""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType


def import_lean() -> None:
    """Import libraries without the parts that nothing uses."""
    # The ORM, which only the sessions of the asyncio part would load.
    with _unused("sqlalchemy.ext.asyncio.scoping", "sqlalchemy.ext.asyncio.session"):
        importlib.import_module("sqlalchemy.ext.asyncio")
    # The help of the command loads Rich. It would show tracebacks with local variables.
    with _absent("rich"):
        importlib.import_module("structlog")
    # Its command, with Click and multiprocessing, and logs as it would write them itself.
    with _unused("uvicorn.main", "logging.config", "configparser"):
        importlib.import_module("uvicorn")
    with _unused("http.server", "socketserver", "urllib.request", "wsgiref.simple_server"):  # servers for metrics alone
        importlib.import_module("prometheus_client")
    _import_session_tokens()


def _import_session_tokens() -> None:
    """Without cryptography, which their signatures do not need. They keep this PyJWT; ID tokens import a whole one."""
    with _absent("cryptography"), _unused("jwt.jwks_client"):
        importlib.import_module("flagstaff.identity.sessions.tokens")
    for name in [each for each in sys.modules if each.partition(".")[0] == "jwt"]:
        del sys.modules[name]


def import_fastapi() -> None:
    """Import FastAPI without Pydantic's first version and without what describes an API.

    FastAPI asks whether a model belongs to that version. This process can no longer describe the API: it has the
    document as a file, and `flagstaff openapi` makes it in a process that has imported all of FastAPI. Nothing is left
    out of a process that has imported FastAPI already.
    """
    if "fastapi" in sys.modules:
        return
    sys.modules["pydantic.v1"] = None  # type: ignore[assignment] # the import system's way to say that there is none
    sys.modules["pydantic.json_schema"] = _Unused("pydantic.json_schema")  # for good: our modules import it later
    with _unused(
        "fastapi.openapi.docs",
        "fastapi.openapi.models",
        "fastapi.openapi.utils",
        "html",  # for pages with tracebacks
        "opentelemetry._logs",  # for FastAPI's own telemetry, which is switched off, as is the next
        "opentelemetry.metrics",
        "pydantic.color",  # for FastAPI's encoders, as is the next
        "pydantic.networks",
    ):
        importlib.import_module("fastapi")
        importlib.import_module("fastapi.security")
    models = importlib.import_module("flagstaff.http.response_models")
    models.ResponseModel = _Undescribed  # type: ignore[attr-defined]


class _Same(type):
    """A class whose subclasses are itself: what they define is dropped."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, object], **_: object) -> type:
        return bases[0] if bases else super().__new__(cls, name, bases, namespace)


class _Undescribed(metaclass=_Same):
    """Every model of a response: the models only describe."""


@contextmanager
def _absent(name: str) -> Iterator[None]:
    """Let imports find that a module is not installed."""
    sys.modules[name] = None  # type: ignore[assignment] # as above
    try:
        yield
    finally:
        del sys.modules[name]


@contextmanager
def _unused(*names: str) -> Iterator[None]:
    """Let imports find modules whose names can be imported, but not used."""
    names = tuple(name for name in names if name not in sys.modules)
    sys.modules.update({name: _Unused(name) for name in names})
    try:
        yield
    finally:
        for name in names:
            del sys.modules[name]


class _Unused(ModuleType):
    """A module that has a class of any name, from which others can inherit."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (_UnusedClass,), {})


class _UnusedClass:
    """A class that is made of anything, and does nothing with it."""

    def __init__(self, *_: object, **__: object) -> None: ...
