"""The views of the flag list: saved views and favourites."""
