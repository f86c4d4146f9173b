"""Metrics: what applications report about users in events."""
