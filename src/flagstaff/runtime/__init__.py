"""The stateful parts of the hot path. They are given callables and never use SQL."""
