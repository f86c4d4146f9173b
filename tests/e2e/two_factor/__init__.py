"""Second factors in a real browser."""
