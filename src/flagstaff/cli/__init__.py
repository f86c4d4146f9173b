"""The `flagstaff` command."""
