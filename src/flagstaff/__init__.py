"""Flagstaff: self-hosted feature flags."""

__version__: str


def __getattr__(name: str) -> str:
    """Look the version up when it is asked for: that takes so long that a start must handle signals before."""
    if name != "__version__":
        raise AttributeError(name)
    from importlib.metadata import version  # noqa: PLC0415 -- see above

    globals()["__version__"] = found = version("flagstaff")
    return found
