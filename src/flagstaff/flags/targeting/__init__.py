"""Targeting: rules, segments and conditions."""
