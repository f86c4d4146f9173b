"""What every request passes: the connection and its bounds, request ids, limits, errors."""
