"""Imports libraries without their parts that nothing here uses, which would take 13 MB and a tenth of the start.

It must run before anything else imports these libraries. Where a library has moved such a part, it is loaded as usual.
"""

import importlib
import sys
from types import ModuleType


def import_lean() -> None:
    """Import SQLAlchemy, structlog, and PyJWT for session tokens, without the parts that nothing uses."""
    _import_sqlalchemy()
    _import_structlog()
    _import_session_tokens()


def _import_sqlalchemy() -> None:
    """Without the ORM, which only the sessions of the asyncio part would load."""
    for name in ("scoping", "session"):
        module = f"sqlalchemy.ext.asyncio.{name}"
        sys.modules[module] = _Missing(module)
    importlib.import_module("sqlalchemy.ext.asyncio")


def _import_structlog() -> None:
    """Without Rich, which would show tracebacks with local variables. The help of the command loads it."""
    sys.modules["rich"] = None  # type: ignore[assignment] # the import system's way to say that there is none
    try:
        importlib.import_module("structlog")
    finally:
        del sys.modules["rich"]


def _import_session_tokens() -> None:
    """Without cryptography, which their signatures do not need. They keep this PyJWT; ID tokens import a whole one."""
    sys.modules["cryptography"] = None  # type: ignore[assignment] # as above
    try:
        importlib.import_module("flagstaff.identity.sessions.tokens")
    finally:
        del sys.modules["cryptography"]
        for name in [each for each in sys.modules if each.partition(".")[0] == "jwt"]:
            del sys.modules[name]


def import_fastapi() -> None:
    """Import FastAPI without Pydantic's first version and without the validators of the models of an OpenAPI document.

    FastAPI asks whether a model belongs to that version. The validators are built if a document is made.
    """
    from pydantic import BaseModel  # noqa: PLC0415 -- the start does not wait for it

    sys.modules["pydantic.v1"] = None  # type: ignore[assignment]
    BaseModel.model_config["defer_build"] = True
    try:
        importlib.import_module("fastapi")
    finally:
        del BaseModel.model_config["defer_build"]


class _Missing(ModuleType):
    """A module whose names can be imported, but not used."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return None
