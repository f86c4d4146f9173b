"""An evaluation as the history keeps it and finds it."""
