"""The dashboard, as a browser loads it."""
