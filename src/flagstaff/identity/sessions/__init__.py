"""Sessions, which logins open."""
