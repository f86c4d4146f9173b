"""Flagstaff: self-hosted feature flags."""

from importlib.metadata import version

__version__ = version("flagstaff")
