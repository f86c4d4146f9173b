"""Limits on requests: sliding windows, shared between workers and instances."""
