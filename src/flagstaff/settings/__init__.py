"""Settings, which are read from the environment and checked at start. Imports nothing else of Flagstaff."""

from flagstaff.settings.model import SettingRow, Settings, SettingsError
from flagstaff.settings.values import IPNetwork, LogFormat, RateLimit, SmtpServer

__all__ = ["IPNetwork", "LogFormat", "RateLimit", "SettingRow", "Settings", "SettingsError", "SmtpServer"]
