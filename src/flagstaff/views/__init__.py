"""How people see the flag list: saved views and favourites."""
