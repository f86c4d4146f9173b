"""Builds the service from its parts: routes and middleware, start and stop."""
