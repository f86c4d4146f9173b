"""Accounts: registered, changed, deleted and administered, and single sign-on at identity providers."""
