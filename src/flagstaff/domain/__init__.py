"""What the product is: its values, rules and permissions. Standard library only; no I/O, no clock."""
