"""Access tokens, with which machines call the API."""
