"""The distinct users of flags and environments: exact for few, estimated for many."""
