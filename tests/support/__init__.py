"""Test support: real servers, fresh databases, a settable clock."""
