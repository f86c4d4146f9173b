"""Second factors: codes, recovery codes and passkeys."""
