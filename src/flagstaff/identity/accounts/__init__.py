"""Accounts: registration, passwords, and limits on guessing them."""
