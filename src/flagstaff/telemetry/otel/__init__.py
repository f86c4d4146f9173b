"""Traces and metrics for OpenTelemetry. Nothing here is imported unless the settings ask for it."""
