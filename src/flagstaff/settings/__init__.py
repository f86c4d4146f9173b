"""Settings, which are read from the environment and checked at start. Imports nothing else of Flagstaff."""

from flagstaff.settings.model import SettingRow, Settings, SettingsError
from flagstaff.settings.values import IPNetwork, LogFormat, RateLimit, Registration, SmtpServer

__all__ = [
    "IPNetwork",
    "LogFormat",
    "RateLimit",
    "Registration",
    "SettingRow",
    "Settings",
    "SettingsError",
    "SmtpServer",
]
