"""Values that all subjects use. Standard library only; no I/O, no clock."""
