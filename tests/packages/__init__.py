"""Checks of `packaging/` with real tools, which `make check-packages` installs; not part of `make test`."""
