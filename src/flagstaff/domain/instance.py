"""The instance: its settings that administrators change while it runs."""

from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID


@dataclass(frozen=True, slots=True)
class InstanceSettings:
    """Whether registration is `open` or `closed`, and whether that is the default, which nobody has changed."""

    id: ClassVar[UUID] = UUID(int=0)  # there is only one instance

    registration: str
    is_default: bool
