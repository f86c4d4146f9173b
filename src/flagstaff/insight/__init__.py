"""The work of flags: explanations, the playground, impacts, and flags that may be removed."""
