"""What people see first: saved views of the flag list, favourites, and pinned charts."""
