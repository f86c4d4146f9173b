"""The audit trail: its changes are announced, listed, exported and, where the law asks for it, forgotten."""
