"""Moving parts of the hot path. They are handed callables and never speak SQL."""
