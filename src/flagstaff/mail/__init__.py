"""Mails: their content, and the two ways to send them."""
