"""The APIs that Unleash's client libraries use, below `/unleash/api`."""
