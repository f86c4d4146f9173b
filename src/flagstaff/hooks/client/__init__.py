"""Sends messages to receivers: only to addresses that are allowed, and reads only so much of their responses."""
