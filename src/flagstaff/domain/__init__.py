"""The product's values, rules and permissions. Uses only the standard library; no I/O, no clock."""
