"""Withholds from webhooks of the whole instance the contents of projects that did not agree to it.

They are told of every change: its type, its keys and ids, who made it, and a link. Only members read the rest, also if
an administrator has created the webhook.
"""

from collections.abc import Collection
from dataclasses import replace
from uuid import UUID

from flagstaff.changes.changes import NumberedChange
from flagstaff.database.database import Connection
from flagstaff.hooks.messages import Event
from flagstaff.hooks.notices import Notice
from flagstaff.identity.second_factors.second_factors_store import has_second_factor
from flagstaff.permissions.permissions import Permission, may
from flagstaff.projects import projects_store
from flagstaff.projects.members import members_store
from flagstaff.projects.projects import Project


async def may_read_contents(connection: Connection, project_id: UUID, readers: Collection[UUID | None]) -> bool:
    """Return whether a project shares its contents, or all readers read them as its members.

    Nobody reads the contents of a deleted project. A reader who is None is an account that does not exist any more.
    """
    project = await projects_store.find_project(connection, project_id)
    if project is None or project.shares_contents:
        return project is not None
    return all([await _is_open_to(connection, project, each) for each in readers])


async def _is_open_to(connection: Connection, project: Project, reader: UUID | None) -> bool:
    member = await members_store.find_member(connection, project.id, reader) if reader else None
    if member is None or not may(member, Permission.AUDIT_READ):
        return False
    return not project.demands_second_factor or await has_second_factor(connection, member.account_id)


def withhold(event: Event) -> Event:
    """The event without what only members read."""
    return replace(
        event,
        changes=[_withhold_change(each) for each in event.changes],
        notice=_withhold_notice(event.notice) if event.notice else None,
        environment=event.environment and replace(event.environment, name=event.environment.key, critical=False),
        is_withheld=True,
    )


def _withhold_change(numbered: NumberedChange) -> NumberedChange:
    """The change without its states, and without the texts of the release that has made it."""
    actor = numbered.change.actor
    if actor.release is not None:
        actor = replace(actor, release=actor.release._replace(name=None, guard=None))
    return replace(numbered, change=replace(numbered.change, actor=actor, before=None, after=None))


def _withhold_notice(notice: Notice) -> Notice:
    """The notice with the keys of its flags, and nothing else about them."""
    flags = [{"key": each["key"]} for each in notice.details["flags"]]
    return replace(notice, details={"count": notice.details["count"], "flags": flags})
