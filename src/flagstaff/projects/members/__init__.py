"""Members of projects, their roles in single environments, and invitations."""
