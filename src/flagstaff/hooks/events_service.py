"""Finds what a message tells: the changes or the notice that it is about, as far as its webhook wants them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from flagstaff.audit.dashboard_links import change_page, project_page
from flagstaff.changes.changes import NumberedChange, Scope
from flagstaff.database import changes_store
from flagstaff.database.database import Connection
from flagstaff.flags import flags_store
from flagstaff.hooks import notices_store
from flagstaff.hooks.deliveries import Delivery
from flagstaff.hooks.messages import Event, NamedProject
from flagstaff.hooks.notices import Notice, NoticeType
from flagstaff.hooks.webhooks import Webhook
from flagstaff.hooks.withholding import may_read_contents, withhold
from flagstaff.projects import environments_store, projects_store
from flagstaff.projects.projects import Environment

_CHANGES_SHOWN = 200
_NOTICE_PAGES = {NoticeType.FLAG_STALE: "cleanup", NoticeType.FLAG_MISSING: "applications"}


@dataclass(slots=True)
class Events:
    """Finds what messages of one webhook tell. It reads each environment and each flag once.

    `reader` is the account that looks at the messages, if they are not sent: it is shown no more than it may read.
    """

    connection: Connection
    public_url: str
    reader: UUID | None = None
    _withheld: dict[UUID, bool] = field(default_factory=dict, init=False)
    _places: dict[Scope, tuple[NamedProject | None, Environment | None]] = field(default_factory=dict, init=False)
    _deleted: list[Environment] = field(default_factory=list, init=False)
    _tags: dict[UUID, list[str]] = field(default_factory=dict, init=False)

    async def find(self, webhook: Webhook, delivery: Delivery, dropped: int = 0) -> Event | None:
        """The event of a message; None if there is nothing that the webhook wants.

        `dropped` messages before it were never sent.
        """
        if delivery.notice is not None:
            notice = await notices_store.find_notice(self.connection, delivery.notice)
            return None if notice is None else await self._of_notice(webhook, notice, dropped)
        if delivery.first_change is None or delivery.last_change is None:
            return Event(delivery.created_at, project_page(self.public_url, webhook.project_id), dropped=dropped)
        made = await changes_store.list_between(
            self.connection, delivery.project_id, delivery.first_change, delivery.last_change, _CHANGES_SHOWN
        )
        # Others may have been made in other environments while an environment was created with many flags.
        together = [each for each in made if each.change.scope.environment_id == made[0].change.scope.environment_id]
        return await self.of_changes(webhook, together, revision=delivery.revision, dropped=dropped)

    async def of_changes(
        self, webhook: Webhook, made: Sequence[NumberedChange], *, revision: int | None = None, dropped: int = 0
    ) -> Event | None:
        """The event of a message about changes of one environment; None if the webhook wants none of them."""
        if not made:
            return None
        scope = made[0].change.scope
        project, environment = await self._find_place(scope)
        is_withheld = await self._is_withheld(webhook, scope.project_id)
        wanted = [each for each in made if await self._is_wanted(webhook, each, environment, has_tags=not is_withheld)]
        if not wanted:
            return None
        first = wanted[0].change
        page_of = None if environment in self._deleted else environment
        event = Event(
            first.at,
            change_page(self.public_url, first.action, first.scope, page_of),
            changes=wanted,
            project=project,
            environment=environment,
            revision=revision,
            dropped=dropped,
        )
        return withhold(event) if is_withheld else event

    async def _is_withheld(self, webhook: Webhook, project_id: UUID | None) -> bool:
        """Return whether a webhook of the instance is not told the contents of changes in a project."""
        if webhook.project_id is not None or project_id is None:
            return False
        if project_id not in self._withheld:
            readers = [webhook.owner_id, *([] if self.reader is None else [self.reader])]
            self._withheld[project_id] = not await may_read_contents(self.connection, project_id, readers)
        return self._withheld[project_id]

    async def _of_notice(self, webhook: Webhook, notice: Notice, dropped: int) -> Event | None:
        project, environment = await self._find_place(Scope(notice.project_id, notice.environment_id))
        key = environment.key if environment else None
        is_withheld = await self._is_withheld(webhook, notice.project_id)
        details = dict(notice.details)
        if "flags" in details:
            described: Sequence[Mapping[str, Any]] = details["flags"]
            field_of_tags = "" if is_withheld else "tags"
            flags = [each for each in described if webhook.wants(notice.type, key, each.get(field_of_tags, ()))]
            if not flags:
                return None
            if len(flags) < len(described):
                details |= {"flags": flags, "count": len(flags)}
        elif not webhook.wants(notice.type, key, None):
            return None
        link = project_page(self.public_url, notice.project_id)
        if environment is not None:
            link += f"/environments/{environment.id}/{_NOTICE_PAGES[notice.type]}"
        elif notice.project_id is None:
            link += "/admin/instances"
        told = replace(notice, details=details)
        event = Event(notice.at, link, notice=told, project=project, environment=environment, dropped=dropped)
        return withhold(event) if is_withheld else event

    async def _find_place(self, scope: Scope) -> tuple[NamedProject | None, Environment | None]:
        place = Scope(scope.project_id, scope.environment_id)
        if place not in self._places:
            project = environment = None
            if scope.project_id is not None:
                project = await self._find_project(scope.project_id)
                if scope.environment_id is not None:
                    environment = await self._find_environment(scope.project_id, scope.environment_id)
            self._places[place] = project, environment
        return self._places[place]

    async def _find_project(self, project_id: UUID) -> NamedProject | None:
        project = await projects_store.find_project(self.connection, project_id)
        if project is not None:
            return NamedProject(project.id, project.name)
        state = await self._find_last_state(project_id, project_id)
        return None if state is None else NamedProject(project_id, state["name"])

    async def _find_environment(self, project_id: UUID, environment_id: UUID) -> Environment | None:
        """An environment, also a deleted one, which webhooks that want others must not be told of."""
        environment = await environments_store.find_environment(self.connection, project_id, environment_id)
        state = await self._find_last_state(project_id, environment_id) if environment is None else None
        if state is not None:
            environment = Environment(
                environment_id,
                project_id,
                state["name"],
                state["key"],
                datetime.fromisoformat(state["created_at"]),
                critical=state.get("critical", False),  # older ones do not have it
            )
            self._deleted.append(environment)
        return environment

    async def _find_last_state(self, project_id: UUID, resource_id: UUID) -> Mapping[str, Any] | None:
        """The state in which a resource was deleted."""
        change = await changes_store.find_latest_change(self.connection, project_id, resource_id)
        return None if change is None else change.before

    async def _is_wanted(
        self, webhook: Webhook, numbered: NumberedChange, environment: Environment | None, *, has_tags: bool
    ) -> bool:
        """Return whether a webhook wants a change. Tags that it is not told do not decide it, or it could find them."""
        change = numbered.change
        tags: list[str] | None = None
        if webhook.tags is not None and change.scope.flag_id is not None:
            recorded = change.after or change.before or {}
            tags = recorded.get("tags") if has_tags else []
            if tags is None:
                tags = await self._find_tags(change.scope.flag_id, environment)
        return webhook.wants(change.action, environment.key if environment else None, tags)

    async def _find_tags(self, flag_id: UUID, environment: Environment | None) -> list[str]:
        if environment is None:
            return []
        if flag_id not in self._tags:
            flag = await flags_store.find_flag(self.connection, environment.project_id, environment.id, flag_id)
            self._tags[flag_id] = list(flag.tags) if flag else []
        return self._tags[flag_id]


def were_made_together(one: NumberedChange, other: NumberedChange) -> bool:
    """Return whether two changes were made at one moment, by one actor, in one environment."""
    return _origin_of(one) == _origin_of(other)


def _origin_of(numbered: NumberedChange) -> tuple[datetime, UUID | None, UUID | None]:
    change = numbered.change
    return change.at, change.actor.account_id, change.scope.environment_id
