"""Projects, their members, invitations, environments and SDK keys, and who may do what."""
