"""Callers: accounts, sessions, second factors, single sign-on, access tokens, administrators."""
