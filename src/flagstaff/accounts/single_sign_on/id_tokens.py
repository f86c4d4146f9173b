"""ID tokens: signed by a key of the provider, for this client, for this sign-in, and not expired."""

import hmac
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

import jwt

from flagstaff.accounts.single_sign_on.provider_calls import ProviderCalls
from flagstaff.settings.providers import Provider

_KEYS_LIFETIME = timedelta(hours=1)
_KEYS_FETCHED_AGAIN_AFTER = timedelta(seconds=10)  # tokens with unknown keys must not cause a call each
_CLOCKS_APART_SECONDS = 60
# Asymmetric ones only: a token that is signed with the client's secret proves no provider.
_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
_REQUIRED = ["iss", "sub", "aud", "exp", "iat", "nonce"]


class IdTokens:
    """Verifies the ID tokens of one provider, whose keys it remembers for an hour."""

    def __init__(self, provider: Provider, calls: ProviderCalls, now: Callable[[], datetime]) -> None:
        self._provider = provider
        self._calls = calls
        self._now = now
        self._keys: list[jwt.PyJWK] = []
        self._keys_fetched_at: datetime | None = None

    async def verify(self, jwks_uri: str, id_token: str, nonce: str) -> Mapping[str, Any]:
        """The claims of a token, except those that are null.

        Raises:
            Error: UNAUTHENTICATED if any claim is not as it must be, UNAVAILABLE.
        """
        try:
            header = jwt.get_unverified_header(id_token)
            algorithm = header.get("alg")
            if algorithm not in _ALGORITHMS:
                raise self._calls.refuse("the id_token is not signed by a key of the provider")
            key = await self._find_key(jwks_uri, header.get("kid"))
            claims: dict[str, Any] = jwt.decode(
                id_token,
                key.key,
                algorithms=[algorithm],
                audience=self._provider.client_id,
                issuer=self._provider.issuer,
                # Times are compared with this clock, which tests can set.
                options={"require": _REQUIRED, "verify_exp": False, "verify_iat": False, "verify_nbf": False},
            )
            if not self._now().timestamp() < float(claims["exp"]) + _CLOCKS_APART_SECONDS:  # nor is NaN later
                raise self._calls.refuse("the id_token has expired")
            if not hmac.compare_digest(str(claims["nonce"]).encode(), nonce.encode()):
                raise self._calls.refuse("the id_token is for another sign-in")
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError) as error:
            raise self._calls.refuse(f"the id_token is not valid: {type(error).__name__}") from error
        audiences = claims["aud"]
        parties = [self._provider.client_id] if isinstance(audiences, list) and len(audiences) > 1 else [None]
        if claims.get("azp") not in (*parties, self._provider.client_id):
            raise self._calls.refuse("the id_token is for another client")
        return {name: value for name, value in claims.items() if value is not None}

    async def _find_key(self, jwks_uri: str, kid: object) -> jwt.PyJWK:
        """The key with this id. A key that is not known yet causes the keys to be fetched again."""
        now = self._now()
        is_old = self._keys_fetched_at is None or now - self._keys_fetched_at >= _KEYS_LIFETIME
        if is_old or (self._match(kid) is None and self._may_fetch_keys(now)):
            given = await self._calls.call("GET", jwks_uri)
            self._keys = jwt.PyJWKSet.from_dict(dict(given)).keys
            self._keys_fetched_at = now
        key = self._match(kid)
        if key is None:
            raise self._calls.refuse("the id_token is not signed by a key of the provider")
        return key

    def _may_fetch_keys(self, now: datetime) -> bool:
        return self._keys_fetched_at is None or now - self._keys_fetched_at >= _KEYS_FETCHED_AGAIN_AFTER

    def _match(self, kid: object) -> jwt.PyJWK | None:
        usable = [key for key in self._keys if key.key_type != "oct" and key.public_key_use in (None, "sig")]
        if kid is None:
            return usable[0] if len(usable) == 1 else None
        return next((key for key in usable if key.key_id == kid), None)
