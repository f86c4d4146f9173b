"""Conditions on attributes of users: what they may be, the tests of operators, and predicates of several conditions."""
