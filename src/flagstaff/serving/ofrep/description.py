"""The description of OFREP as it is served here, written by hand in openapi.json. A test sends what it allows."""

from importlib.resources import files


def describe_ofrep() -> bytes:
    """The OpenAPI document."""
    return files(__package__).joinpath("openapi.json").read_bytes()
