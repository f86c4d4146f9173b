"""Mails to members about what concerns them: what they want, and what sends it."""
