"""Every setting, read from the environment and checked at start. A leaf: it imports nothing of Flagstaff."""

from flagstaff.settings.model import SettingRow, Settings, SettingsError
from flagstaff.settings.values import IPNetwork, LogFormat, RateLimit, SmtpServer

__all__ = ["IPNetwork", "LogFormat", "RateLimit", "SettingRow", "Settings", "SettingsError", "SmtpServer"]
