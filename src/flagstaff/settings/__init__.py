"""Settings, which are read from the environment and checked at start. Imports nothing else of Flagstaff."""

from flagstaff.settings.addresses import IPNetwork, SmtpServer, is_loopback
from flagstaff.settings.environment import SettingsError
from flagstaff.settings.model import SettingRow, Settings
from flagstaff.settings.values import CommonPasswords, HistoryAttributes, LogFormat, RateLimit, Registration, WhenCutOff

__all__ = [
    "CommonPasswords",
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
    "is_loopback",
]
