"""The dashboard's page and files, as browsers load them."""
