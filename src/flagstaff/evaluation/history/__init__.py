"""The form in which the history keeps and filters evaluations."""
