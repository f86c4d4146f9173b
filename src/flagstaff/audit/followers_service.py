"""Followers of projects: they are told of changes for as long as they are members and their credential is valid."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from flagstaff.audit.followers_store import find_credentials, find_memberships
from flagstaff.database.database import Database


class Follower(NamedTuple):
    """An account that follows a project in a session or with an access token.

    Bearer tokens of releases without sessions have neither.
    """

    project_id: UUID
    account_id: UUID
    session_id: UUID | None
    token_id: UUID | None


@dataclass(frozen=True, slots=True)
class Followers:
    """The use case of followers."""

    database: Database
    now: Callable[[], datetime]

    async def find_ended(self, followers: Collection[Follower]) -> list[Follower]:
        """Find followers that may not be told any more: removed members, and those whose session or token has ended.

        A new password and a deactivation end the sessions of their account.
        """
        sessions = {each.session_id for each in followers if each.session_id is not None}
        tokens = {each.token_id for each in followers if each.token_id is not None}
        accounts, projects = {each.account_id for each in followers}, {each.project_id for each in followers}
        async with self.database.read() as connection:
            members = await find_memberships(connection, accounts, projects)
            valid = {None, *await find_credentials(connection, sessions, tokens, self.now())}
        return [
            each
            for each in followers
            if (each.project_id, each.account_id) not in members
            or each.session_id not in valid
            or each.token_id not in valid
        ]
