"""Projects, their members, invitations, environments and SDK keys."""
