"""Links of projects to pages elsewhere, such as runbooks."""
