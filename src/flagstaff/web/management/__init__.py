"""The management API, `/auth` and `/api`: people call it, the dashboard and scripts."""
