"""The load harness: what Flagstaff does in a second, beside what nginx and uvicorn do in the same one. No test."""
