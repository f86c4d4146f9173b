"""The management API, `/auth` and `/api`, for the dashboard, scripts and people."""
