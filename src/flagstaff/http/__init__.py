"""The layers that every request passes through: the connection and its bounds, request ids, limits and errors."""
