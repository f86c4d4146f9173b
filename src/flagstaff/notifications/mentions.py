"""Mentions in comments, as mails tell them: without the words of the comment, which a stranger could have written."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Mention:
    """A comment that mentions a member, as far as a mail tells of it, and the page on which it is."""

    comment_id: UUID
    at: datetime
    author_email: str
    project_id: UUID
    environment_id: UUID | None
    flag_id: UUID | None
    flag_key: str | None
    is_on_release: bool
    is_on_change: bool

    def say_briefly(self, environment: str | None) -> str:
        """The mention in one phrase, in ASCII. `environment` is the key of one that exists."""
        what = f"{self.flag_key}: " if self.flag_key else ""
        place = " on a release" if self.is_on_release else " on a change" if self.is_on_change else ""
        return f"{what}you were mentioned in a comment{place}{f' in {environment}' if environment else ''}"

    def page(self, project_page: str, *, has_environment: bool) -> str:
        """The URL of the page that shows the comment, or of what is left of it."""
        if not has_environment:
            return f"{project_page}/audit"
        in_environment = f"{project_page}/environments/{self.environment_id}"
        if self.flag_id is None:
            return f"{in_environment}/changes" if self.is_on_change else in_environment
        tab = "?tab=releases" if self.is_on_release else "?tab=changes" if self.is_on_change else "?tab=comments"
        return f"{in_environment}/flags/{self.flag_id}{tab}"
