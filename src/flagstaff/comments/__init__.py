"""Comments of members on flags, on releases and on changes."""
