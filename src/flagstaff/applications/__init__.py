"""Applications that evaluate flags themselves: the flags they get, what they report, and exports."""
