"""The endpoints that applications call."""
