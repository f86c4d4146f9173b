"""Saved views of the flag list, favourites, and pinned charts: what people see first."""
