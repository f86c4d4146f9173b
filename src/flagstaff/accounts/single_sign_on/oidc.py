"""Speaks to an OpenID Connect provider: its configuration, its tokens and what it says about a person.

Nothing is believed that is not signed by a key of the provider for this client and this sign-in, or fetched with the
token that came with it.
"""

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx

from flagstaff.accounts.single_sign_on.id_tokens import IdTokens
from flagstaff.accounts.single_sign_on.identities import Person
from flagstaff.accounts.single_sign_on.provider_calls import ProviderCalls
from flagstaff.settings.providers import Provider
from flagstaff.values.text import check_length, check_text

_CONFIGURATION_LIFETIME = timedelta(hours=1)
_SUBJECT_MAX_LENGTH = 255  # OpenID Connect Core, 2
_VERIFIED = "email_verified"
# Methods that are a second factor or were one of several: RFC 8176, and Microsoft's name for its own.
_FACTORS = frozenset(
    ("mfa", "mca", "otp", "hwk", "swk", "sc", "sms", "tel", "fpt", "face", "iris", "retina", "vbm", "ngcmfa")
)


@dataclass(frozen=True, slots=True)
class _Configuration:
    authorization_endpoint: str
    token_endpoint: str
    userinfo_endpoint: str | None
    end_session_endpoint: str | None
    jwks_uri: str
    posts_secret: bool
    names_itself: bool  # in its answer, by RFC 9207
    fetched_at: datetime


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a code: the person, and the token that ends the session at the provider."""

    person: Person
    id_token: str


class ProviderClient:
    """One provider. It remembers the configuration and the keys for an hour."""

    def __init__(
        self, provider: Provider, *, redirect_uri: str, now: Callable[[], datetime], http: httpx.AsyncClient
    ) -> None:
        self.provider = provider
        self._redirect_uri = redirect_uri
        self._now = now
        self._calls = ProviderCalls(provider, http)
        self._tokens = IdTokens(provider, self._calls, now)
        self._configuration: _Configuration | None = None

    async def authorization_url(self, *, state: str, nonce: str, verifier: str) -> str:
        """Return the URL at which the browser signs in; raises Error UNAVAILABLE if the provider cannot be reached."""
        configuration = await self._configure()
        challenge = urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
        query = {
            "response_type": "code",
            "client_id": self.provider.client_id,
            "redirect_uri": self._redirect_uri,
            "scope": " ".join(self.provider.scopes),
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        if self.provider.acr_values:
            query["acr_values"] = " ".join(self.provider.acr_values)
        return _with_query(configuration.authorization_endpoint, query)

    async def redeem(self, *, code: str, verifier: str, nonce: str, issuer: str | None) -> Answer:
        """Return the person who has signed in; `issuer` is the one that came with the code, if any did.

        Raises:
            Error: UNAUTHENTICATED if anything about the answer is not as it must be, UNAVAILABLE.
        """
        configuration = await self._configure()
        if issuer != self.provider.issuer and (issuer is not None or configuration.names_itself):
            raise self._calls.refuse("the answer came from another issuer")
        tokens = await self._exchange(configuration, code, verifier)
        id_token = tokens.get("id_token")
        if not isinstance(id_token, str):
            raise self._calls.refuse("there is no id_token")
        claims = await self._tokens.verify(configuration.jwks_uri, id_token, nonce)
        is_missing = "email" not in claims or (bool(self.provider.roles) and not self._has_groups(claims))
        if is_missing and configuration.userinfo_endpoint and isinstance(tokens.get("access_token"), str):
            claims = await self._with_userinfo(configuration.userinfo_endpoint, tokens["access_token"], claims)
        return Answer(self._person(claims), id_token)

    async def end_session_url(self, id_token: str, return_to: str) -> str | None:
        """Return the URL at which the browser ends the session at the provider, if the provider supports that."""
        endpoint = (await self._configure()).end_session_endpoint
        if endpoint is None:
            return None
        query = {
            "client_id": self.provider.client_id,
            "id_token_hint": id_token,
            "post_logout_redirect_uri": return_to,
        }
        return _with_query(endpoint, query)

    async def _configure(self) -> _Configuration:
        present, now = self._configuration, self._now()
        if present is not None and now - present.fetched_at < _CONFIGURATION_LIFETIME:
            return present
        given = await self._calls.call("GET", f"{self.provider.issuer.rstrip('/')}/.well-known/openid-configuration")
        if given.get("issuer") != self.provider.issuer:
            raise self._calls.away("its configuration names another issuer")
        methods = given.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        self._configuration = _Configuration(
            authorization_endpoint=self._endpoint(given, "authorization_endpoint"),
            token_endpoint=self._endpoint(given, "token_endpoint"),
            userinfo_endpoint=self._endpoint(given, "userinfo_endpoint") if "userinfo_endpoint" in given else None,
            end_session_endpoint=(
                self._endpoint(given, "end_session_endpoint") if "end_session_endpoint" in given else None
            ),
            jwks_uri=self._endpoint(given, "jwks_uri"),
            posts_secret="client_secret_basic" not in methods,
            names_itself=given.get("authorization_response_iss_parameter_supported") is True,
            fetched_at=now,
        )
        return self._configuration

    def _endpoint(self, given: Mapping[str, Any], name: str) -> str:
        value = given.get(name)
        # As safe as the issuer: https, or plain if that is on this machine.
        scheme = urlsplit(self.provider.issuer).scheme
        if not isinstance(value, str) or not value.startswith(("https://", f"{scheme}://")):
            raise self._calls.away(f"its configuration has no usable {name}")
        return value

    async def _exchange(self, configuration: _Configuration, code: str, verifier: str) -> Mapping[str, Any]:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._redirect_uri,
            "code_verifier": verifier,
        }
        secret, auth = self.provider.client_secret, None
        if secret is None or configuration.posts_secret:
            form["client_id"] = self.provider.client_id
            if secret is not None:
                form["client_secret"] = secret
        else:
            auth = httpx.BasicAuth(_form_encoded(self.provider.client_id), _form_encoded(secret))
        return await self._calls.call("POST", configuration.token_endpoint, is_judged=True, data=form, auth=auth)

    async def _with_userinfo(self, endpoint: str, access_token: str, claims: Mapping[str, Any]) -> Mapping[str, Any]:
        info = await self._calls.call(
            "GET", endpoint, headers={"authorization": f"Bearer {access_token}"}, is_judged=True
        )
        if info.get("sub") != claims["sub"]:
            raise self._calls.refuse("the userinfo is about somebody else")
        # The address and whether it is verified are said by the same source.
        source = claims if "email" in claims else info
        return {**info, **claims, _VERIFIED: source.get(_VERIFIED)}

    def _has_groups(self, claims: Mapping[str, Any]) -> bool:
        return self.provider.groups_claim in claims or self._leaves_groups_out(claims)

    def _leaves_groups_out(self, claims: Mapping[str, Any]) -> bool:
        """Return whether a provider says that there are too many groups for a token, as Microsoft's does."""
        sources = claims.get("_claim_names")
        is_elsewhere = isinstance(sources, dict) and self.provider.groups_claim in sources
        return is_elsewhere or claims.get("hasgroups") in (True, "true")

    def _person(self, claims: Mapping[str, Any]) -> Person:
        subject, email = claims["sub"], claims.get("email")
        try:
            check_length(check_text(subject), 1, _SUBJECT_MAX_LENGTH)
        except ValueError:
            raise self._calls.refuse("the subject is not valid") from None
        problem = self._email_problem(claims)
        return Person(
            issuer=self.provider.issuer,
            subject=subject,
            email=None if problem else email,
            email_problem=problem,
            groups=self._groups(claims),
            has_shown_factor=self._has_shown_factor(claims),
        )

    def _email_problem(self, claims: Mapping[str, Any]) -> str:
        """Return why an address does not count; an empty text if it does."""
        if not isinstance(claims.get("email"), str):
            return "has sent no email address of yours"
        verified = claims.get(_VERIFIED)
        if verified is None:
            return "" if self.provider.trusts_absent else "has not said that your email address is verified"
        return "" if verified is True or verified == "true" else "has not verified your email address"

    def _groups(self, claims: Mapping[str, Any]) -> frozenset[str] | None:
        groups = claims.get(self.provider.groups_claim)
        if groups is None and self._leaves_groups_out(claims):
            return None
        if isinstance(groups, str):  # some providers send a single group so
            groups = [groups]
        names = groups if isinstance(groups, list) else []
        return frozenset(each for each in names if isinstance(each, str))

    def _has_shown_factor(self, claims: Mapping[str, Any]) -> bool:
        if not self.provider.is_second_factor:
            return False
        if self.provider.acr_values and claims.get("acr") not in self.provider.acr_values:
            return False
        methods = claims.get("amr")
        if methods is None:
            return True  # the setting is all that is known
        return isinstance(methods, list) and any(each in _FACTORS for each in methods if isinstance(each, str))


def _with_query(endpoint: str, query: Mapping[str, str]) -> str:
    return f"{endpoint}{'&' if urlsplit(endpoint).query else '?'}{urlencode(query)}"


def _form_encoded(value: str) -> str:
    """A name or secret as RFC 6749, 2.3.1 wants it before it is encoded for the header."""
    return urlencode({"": value})[1:]
