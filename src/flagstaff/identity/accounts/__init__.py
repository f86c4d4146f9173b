"""Accounts as they are stored, their passwords, and limits on guessing them."""
