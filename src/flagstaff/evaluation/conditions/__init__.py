"""Conditions on attributes of a user: their readings, the tests of operators, and predicates of several conditions."""
