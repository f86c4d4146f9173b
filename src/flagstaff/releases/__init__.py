"""Releases: changes of a flag in steps, which are watched and turned off by guards, and what they show."""
