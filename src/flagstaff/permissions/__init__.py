"""Permissions: who may do what, from the roles of members and the limits of access tokens. Standard library only."""
