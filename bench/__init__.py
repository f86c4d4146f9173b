"""Load tests that compare Flagstaff with nginx and uvicorn in the same run. They do not test correctness."""
