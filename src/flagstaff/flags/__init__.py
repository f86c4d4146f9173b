"""Flags: their values and rules, their use cases, and the budget of work of their conditions."""
