"""The instance: its settings that administrators change while it runs."""

from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID


@dataclass(frozen=True, slots=True)
class InstanceSettings:
    """The settings of the instance: registration, `open` or `closed`, and whether every account needs a second factor.

    Each comes with whether it is the default, which no administrator has changed.
    """

    id: ClassVar[UUID] = UUID(int=0)  # there is only one instance

    registration: str
    is_default: bool  # of the registration
    demands_second_factor: bool
    demands_second_factor_is_default: bool
