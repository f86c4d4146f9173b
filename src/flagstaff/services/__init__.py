"""Use cases: one public method is one transaction. They check permissions, apply rules and add a row to `changes`."""
