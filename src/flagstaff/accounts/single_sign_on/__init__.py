"""Single sign-on at identity providers (OpenID Connect)."""
