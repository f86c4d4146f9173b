"""The load harness, which compares Flagstaff with nginx and uvicorn in the same run. These are not tests."""
