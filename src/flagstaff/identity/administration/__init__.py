"""The instance's administrators, and the settings that they change."""
