"""Mails: how they look, and the two ways they leave."""
