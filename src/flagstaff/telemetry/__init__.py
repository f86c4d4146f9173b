"""What operators see of a running Flagstaff: logs and metrics. A leaf: it imports nothing of Flagstaff."""

from flagstaff.telemetry.logs import configure_logging
from flagstaff.telemetry.metrics import Metrics

__all__ = ["Metrics", "configure_logging"]
