"""Use cases: one public method is one transaction. They ask permissions, apply rules and leave a row in `changes`."""
