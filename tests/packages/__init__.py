"""Checks of `packaging/` with real tools, which `make check-packages` installs. They are not part of `make test`."""
