"""Settings, which are read from the environment and checked at start. Imports nothing else of Flagstaff."""

from flagstaff.settings.model import SettingRow, Settings, SettingsError
from flagstaff.settings.values import (
    HistoryAttributes,
    IPNetwork,
    LogFormat,
    RateLimit,
    Registration,
    SmtpServer,
    WhenCutOff,
)

__all__ = [
    "HistoryAttributes",
    "IPNetwork",
    "LogFormat",
    "RateLimit",
    "Registration",
    "SettingRow",
    "Settings",
    "SettingsError",
    "SmtpServer",
    "WhenCutOff",
]
