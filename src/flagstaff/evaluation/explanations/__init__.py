"""Decides flags apart from the snapshots that are served: to explain them, to compare them, and for many users."""
