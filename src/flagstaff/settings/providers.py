"""Identity providers for single sign-on, read from JSON. Error messages never contain a secret."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

_KEY = re.compile("[a-z0-9][a-z0-9_-]{0,31}")
_DOMAIN = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+")
_LOCAL = ("localhost", "127.0.0.1", "::1")
ROLES = ("viewer", "editor", "admin")
_REQUIRED, _TRUSTED = "required", "trusted"


@dataclass(frozen=True, slots=True)
class RoleRule:
    """Members of a group of the provider get a role in a project."""

    group: str
    project_id: UUID
    role: str


@dataclass(frozen=True, slots=True)
class Provider:
    """An OpenID Connect provider, and what its users may do.

    If there are `domains`, only addresses there are admitted, and the provider is trusted to know whose they are.
    Without `password_login`, accounts with such addresses can sign in only here.

    `trusts_absent` is about `email_verified`, which some providers do not send: such an address counts as verified.
    `is_second_factor` is about people who have signed in here: Flagstaff does not ask for a second factor then.
    `acr_values` are the levels of authentication that the provider is asked for, of which it must name one.
    """

    key: str
    name: str
    issuer: str
    client_id: str
    client_secret: str | None = field(default=None, repr=False)
    scopes: tuple[str, ...] = ("openid", "email")
    domains: tuple[str, ...] = ()
    password_login: bool = True
    trusts_absent: bool = False
    is_second_factor: bool = False
    acr_values: tuple[str, ...] = ()
    groups_claim: str = "groups"
    roles: tuple[RoleRule, ...] = ()


def parse_providers(text: str) -> tuple[Provider, ...]:
    """A JSON list of providers."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("must be a JSON list of providers; it is not valid JSON") from None
    if not isinstance(given, list):
        raise ValueError("must be a JSON list of providers")  # noqa: TRY004 - settings report ValueErrors
    providers = tuple(_provider(each, f"provider {place}") for place, each in enumerate(given, 1))
    for name, values in (
        ("key", [each.key for each in providers]),
        ("issuer", [each.issuer for each in providers]),
        ("domain", [domain for each in providers for domain in each.domains]),
    ):
        if len(set(values)) < len(values):
            raise ValueError(f"must not name the same {name} twice")
    return providers


def _provider(given: object, place: str) -> Provider:
    values = _object(given, place, _FIELDS, required=("key", "name", "issuer", "client_id"))
    verification = values.pop("email_verified", None)
    values["trusts_absent"] = verification == _TRUSTED or (verification is None and bool(values.get("domains")))
    # The only way into an account is its second factor as well, unless the operator says that it is not.
    values["is_second_factor"] = values.pop("second_factor", not values.get("password_login", True))
    provider = Provider(**values)
    for field_name, needs_domains in (
        ("password_login false", not provider.password_login),
        ("email_verified trusted", provider.trusts_absent),
    ):
        if needs_domains and not provider.domains:
            raise ValueError(f"has {place} with {field_name}, which needs domains")
    return provider


def _object(
    given: object, place: str, fields: Mapping[str, Callable[[Any], Any]], *, required: tuple[str, ...]
) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise ValueError(f"has {place}, which is not a JSON object")  # noqa: TRY004 - settings report ValueErrors
    for name in required:
        if name not in given:
            raise ValueError(f"has {place} without {name}")
    values = {}
    for name, value in given.items():
        if name not in fields:
            raise ValueError(f"has {place} with the unknown field {name!r}; known are {', '.join(fields)}")
        try:
            values[name] = fields[name](value)
        except (ValueError, TypeError, AttributeError):
            raise ValueError(f"has {place} whose {name} must be {_ACCEPTED[name]}") from None
    return values


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise ValueError
    return value.strip()


def _key(value: Any) -> str:
    if not _KEY.fullmatch(value):
        raise ValueError
    return str(value)


def _issuer(value: Any) -> str:
    url = urlsplit(value)
    is_safe = url.scheme == "https" or (url.scheme == "http" and url.hostname in _LOCAL)
    if not is_safe or not url.hostname or url.query or url.fragment or url.username is not None:
        raise ValueError
    return str(value)


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError
    return tuple(map(_text, value))


def _names(value: Any) -> tuple[str, ...]:
    names = _texts(value)
    if any(" " in each for each in names):
        raise ValueError
    return names


def _scopes(value: Any) -> tuple[str, ...]:
    scopes = _names(value)
    if "openid" not in scopes:
        raise ValueError
    return scopes


def _domains(value: Any) -> tuple[str, ...]:
    domains = tuple(each.lower() for each in _texts(value))
    if not all(map(_DOMAIN.fullmatch, domains)):
        raise ValueError
    return domains


def _switch(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _verification(value: Any) -> str:
    if value not in (_REQUIRED, _TRUSTED):
        raise ValueError
    return str(value)


def _role(value: Any) -> str:
    if value not in ROLES:
        raise ValueError
    return str(value)


def _rules(value: Any) -> tuple[RoleRule, ...]:
    if not isinstance(value, list):
        raise TypeError
    required = ("group", "project_id", "role")
    return tuple(RoleRule(**_object(each, "a rule", _RULE_FIELDS, required=required)) for each in value)


_RULE_FIELDS: Mapping[str, Callable[[Any], Any]] = {"group": _text, "project_id": UUID, "role": _role}
_FIELDS: Mapping[str, Callable[[Any], Any]] = {
    "key": _key,
    "name": _text,
    "issuer": _issuer,
    "client_id": _text,
    "client_secret": _text,
    "scopes": _scopes,
    "domains": _domains,
    "password_login": _switch,
    "email_verified": _verification,
    "second_factor": _switch,
    "acr_values": _names,
    "groups_claim": _text,
    "roles": _rules,
}
_ACCEPTED = {
    "key": "1 to 32 of a-z, 0-9, _ and -",
    "name": "a text",
    "issuer": "an https URL without query and fragment, exactly as the provider names itself",
    "client_id": "a text",
    "client_secret": "a text",
    "scopes": "a list of texts with openid",
    "domains": "a list of domains such as example.com",
    "password_login": "true or false",
    "email_verified": "required or trusted",
    "second_factor": "true or false",
    "acr_values": "a list of texts without spaces",
    "groups_claim": "a text",
    "roles": "a list of rules with group, project_id and role (viewer, editor or admin)",
    "group": "a text",
    "project_id": "the id of a project",
    "role": "viewer, editor or admin",
}
