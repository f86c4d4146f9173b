"""Changes as values: who made them, where, and what they recorded. The audit trail is read in audit/."""
