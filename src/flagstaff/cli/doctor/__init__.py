"""`flagstaff doctor`: examines everything that Flagstaff depends on."""
