"""All settings in one frozen object: each with its variable, its default and its meaning."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

from flagstaff.settings import addresses, values
from flagstaff.settings.access_settings import AccessSettings
from flagstaff.settings.declarations import setting
from flagstaff.settings.environment import SettingsError, read_settings, variable_of
from flagstaff.settings.history_settings import HistorySettings
from flagstaff.settings.quota_settings import QuotaSettings
from flagstaff.settings.request_settings import RequestSettings
from flagstaff.settings.server_settings import ServerSettings
from flagstaff.settings.values import LogFormat


class SettingRow(NamedTuple):
    """A setting as shown in the reference."""

    variable: str
    default: str
    meaning: str


@dataclass(frozen=True, kw_only=True)
class Settings(HistorySettings, AccessSettings, QuotaSettings, RequestSettings, ServerSettings):
    """All settings; the last class's come first. Field `x_y` is read from the variable FLAGSTAFF_X_Y.

    Secrets can also be read from the file that FLAGSTAFF_X_Y_FILE names.
    """

    access_log: bool = setting(values.parse_switch, "on", "Whether each request is logged.")
    log_format: LogFormat = setting(
        values.choice_parser(LogFormat), "auto", "json, console, or auto: console on a terminal, otherwise json."
    )

    @classmethod
    def load(cls, environ: Mapping[str, str]) -> "Settings":
        """Read and check every setting; an empty variable counts as unset. Raises SettingsError."""
        settings = cls(**read_settings(dataclasses.fields(cls), environ))
        if settings.internal_port == settings.port:
            raise SettingsError("FLAGSTAFF_INTERNAL_PORT must be another port than FLAGSTAFF_PORT.")
        return settings

    @property
    def ports(self) -> tuple[int, ...]:
        """The ports to listen on: first the one for users, and then the internal one, if it is set."""
        return (self.port,) if self.internal_port is None else (self.port, self.internal_port)

    @property
    def path_prefix(self) -> str:
        """The beginning of all paths, such as /flags; empty if the public URL has no path."""
        return urlsplit(self.public_url).path

    @property
    def is_local(self) -> bool:
        """True if only this machine can reach the server, as far as the settings say."""
        hosts = (self.host, urlsplit(self.public_url).hostname or "")
        return all(map(addresses.is_loopback, hosts)) and not self.trusted_proxies

    @property
    def accepts_common_passwords(self) -> bool:
        """True if a new password may be a common one."""
        return self.is_local if self.common_passwords == "auto" else self.common_passwords == "accept"

    def quotas(self) -> dict[str, int]:
        """The settings that limit how much of something there may be, by their variables."""
        named = ((each, getattr(self, each.name)) for each in dataclasses.fields(self) if each.name.startswith("max_"))
        return {variable_of(each): getattr(value, "maximum", value) for each, value in named}

    @classmethod
    def rows(cls) -> list[SettingRow]:
        """All variables with their defaults and meanings, for the reference and the command's help."""
        return [
            SettingRow(variable_of(each), each.metadata["default"] or "none", each.metadata["meaning"])
            for each in dataclasses.fields(cls)
        ]
