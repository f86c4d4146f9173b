"""Comments on flags, releases and changes, and the members whom they mention."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from flagstaff.values.emails import EMAIL_MAX_LENGTH, email_identity
from flagstaff.values.text import check_length, check_text

TEXT_MAX_LENGTH = 4000
COMMENTS_PER_SUBJECT = 500
COMMENTS_PER_HOUR = 60
"""The number of comments that an account writes in an hour at most, in all projects."""
COUNTED_FOR = timedelta(hours=1)
MENTIONS_MAX = 20

# An address after an @ that is not in the middle of a word. The punctuation that may follow it is not part of it.
_mention = re.compile(rf"(?<![\w.+@-])@([^\s@,;:()<>\[\]\"]{{1,64}}@[^\s@,;:()<>\[\]\"!?]{{1,{EMAIL_MAX_LENGTH}}})")


class Subject(NamedTuple):
    """The subject of comments: a flag, a release or a change. One of the three is set."""

    flag_id: UUID | None = None
    release_id: UUID | None = None
    change: int | None = None


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment on a flag, a release or a change: one of `flag_id`, `release_id` and `change` is set.

    `environment_id` is where its subject is. The environment of a change may be deleted, or None if the change was in
    none.
    """

    id: UUID
    project_id: UUID
    environment_id: UUID | None
    flag_id: UUID | None
    release_id: UUID | None
    change: int | None
    author_id: UUID | None
    author_email: str
    text: str
    created_at: datetime
    updated_at: datetime


def check_comment(value: str) -> str:
    """The text of a comment: trimmed, 1 to 4,000 characters, with at most 20 mentions."""
    text = check_length(check_text(value).strip(), 1, TEXT_MAX_LENGTH)
    if len(find_mentions(text)) > MENTIONS_MAX:
        raise ValueError(f"must mention at most {MENTIONS_MAX} members")
    return text


def find_mentions(text: str) -> set[str]:
    """The addresses that a text mentions, as `email_identity` has them. They may belong to nobody."""
    return {email_identity(each.rstrip(".'*_`")) for each in _mention.findall(text)}
