"""The engine: from flags and a user to answers. Pure: no I/O, no clock."""
