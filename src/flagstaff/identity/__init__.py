"""Who is calling: accounts as they are stored, their sessions and second factors, and the instance's settings."""
