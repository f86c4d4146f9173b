"""The audit trail: every write is a change, which is recorded, announced, listed and exported."""
