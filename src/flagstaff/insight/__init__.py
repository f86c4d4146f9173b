"""What flags do: explanations, the playground, impacts, and what may be removed."""
