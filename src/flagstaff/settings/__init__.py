"""Every setting, read from the environment and checked at start. A leaf: it imports nothing of Flagstaff."""

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
