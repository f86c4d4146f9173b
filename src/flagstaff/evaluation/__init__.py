"""The evaluation engine: computes the result of each flag for a user. No I/O, no clock."""
