"""Who may register and sign in, and which addresses are trusted or reached: a part of the settings."""

from dataclasses import dataclass
from pathlib import Path

from flagstaff.settings import addresses, values
from flagstaff.settings.addresses import IPNetwork
from flagstaff.settings.declarations import setting
from flagstaff.settings.providers import Provider, parse_providers
from flagstaff.settings.values import CommonPasswords, RateLimit, Registration
from flagstaff.settings.webhooks import Proxy, parse_ports, parse_proxy, parse_readable_file


@dataclass(frozen=True, kw_only=True)
class AccessSettings:
    """A part of `Settings`."""

    registration: Registration = setting(
        values.choice_parser(Registration),
        "open",
        "open: anyone who can reach the server can create an account; closed: only `flagstaff users create` and "
        "invitations can. Administrators can change it while the server runs.",
    )
    common_passwords: CommonPasswords = setting(
        values.choice_parser(CommonPasswords),
        "auto",
        "Whether new passwords may be among the most common, or the account's email: accept, refuse, or auto: "
        "accept while only this machine can reach the server, which listens on loopback, has its public URL there "
        "and trusts no proxy.",
    )
    oidc_providers: tuple[Provider, ...] = setting(
        parse_providers, "[]", "A JSON list of OpenID Connect providers for single sign-on; see below.", is_secret=True
    )
    demand_second_factor: bool = setting(
        values.parse_switch,
        "off",
        "Whether every account needs a second factor for everything except its own settings. Administrators can "
        "change it while the server runs.",
    )
    trusted_proxies: tuple[IPNetwork, ...] = setting(
        addresses.parse_networks, "", "A comma-separated list of networks whose X-Forwarded-For header is trusted."
    )
    webhook_networks: tuple[IPNetwork, ...] = setting(
        addresses.parse_networks,
        "",
        "A comma-separated list of networks that webhooks may reach besides public addresses, also over http.",
    )
    webhook_ports: tuple[range, ...] = setting(
        parse_ports,
        "80,443,1024-65535",
        "A comma-separated list of the ports that webhooks may reach, and of ranges of them.",
    )
    webhook_rate_limit: RateLimit | None = setting(
        values.parse_rate_limit,
        "100/second",
        "The pace at which an instance sends messages to webhooks: a number per second, minute, hour or day, or off.",
    )
    webhook_project_rate_limit: RateLimit | None = setting(
        values.parse_rate_limit,
        "25/second",
        "The pace at which an instance sends messages to the webhooks of one project, or to those of the instance.",
    )
    webhook_proxy: Proxy | None = setting(
        parse_proxy,
        None,
        "http://user:password@host:3128 or https://…: the proxy through which messages to webhooks are sent. It "
        "resolves the names of receivers, and must refuse internal addresses.",
        is_secret=True,
    )
    webhook_authorities: Path | None = setting(
        parse_readable_file,
        None,
        "A PEM file of authorities whose certificates of receivers are trusted, besides those that the machine trusts.",
    )
    webhook_client_certificate: Path | None = setting(
        parse_readable_file,
        None,
        "A PEM file of the certificate that receivers are shown, with its key, if that has no file of its own.",
    )
    webhook_client_key: Path | None = setting(
        parse_readable_file, None, "A PEM file of the key of FLAGSTAFF_WEBHOOK_CLIENT_CERTIFICATE."
    )
    cors_origins: tuple[str, ...] = setting(
        addresses.parse_origins, "", "A comma-separated list of origins whose pages may call /api and /auth."
    )
