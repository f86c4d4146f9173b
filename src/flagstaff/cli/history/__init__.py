"""`flagstaff history`: the evaluation history from the command line."""
