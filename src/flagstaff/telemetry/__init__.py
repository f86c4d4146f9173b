"""Logs and metrics. Imports nothing else of Flagstaff."""

from flagstaff.telemetry.logs import configure_logging
from flagstaff.telemetry.metrics import Metrics

__all__ = ["Metrics", "configure_logging"]
