"""Rules and segments that name a user of applications: they are about the user, and an erasure leaves them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID


@dataclass(frozen=True, slots=True)
class NamedBy:
    """A rule or a segment, and the attributes with which it compares the id or the email of a user.

    `key` is the key of the rule's flag, or of the segment; segments are in no environment and of no flag.
    """

    kind: Literal["rule", "segment"]
    id: UUID
    key: str
    attributes: Sequence[str]
    environment_id: UUID | None = None
    flag_id: UUID | None = None
