"""Translates flags to the features that Unleash's SDKs evaluate in applications. Errs towards off, and says where."""
