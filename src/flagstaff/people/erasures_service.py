"""Requests to erase a user of a project's applications, in two steps: what would be erased, and the order to do it."""

import hashlib
import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from struct import Struct
from uuid import UUID

from flagstaff.changes.changes import COMMAND_LINE, Actor, Scope, change_of
from flagstaff.database.changes_store import find_latest_change, record
from flagstaff.database.database import Connection, Database
from flagstaff.database.tables import microseconds
from flagstaff.history.erased_users import Digests, Subject
from flagstaff.history.store import batches, erased_users, erasing
from flagstaff.identity.second_factors.sealing import Sealer
from flagstaff.identity.sessions.signed_links import SignedLinks
from flagstaff.people import erasures_store, exposures_store, targeting_store
from flagstaff.people.erasures import CLOCKS_APART, CONFIRMATION, Erasure, RequestedErasure
from flagstaff.people.targeting import NamedBy
from flagstaff.people.trail import count_in_trail
from flagstaff.permissions.permissions import Permission, may
from flagstaff.projects import environments_store, projects_store
from flagstaff.projects.access import open_membership, open_project
from flagstaff.values.errors import Code, Error, invalid_field, not_found

UNFINISHED_MAX = 100
"""Erasures of a project that wait or are being done."""
# The project or zeros, the digests of the user, the end in seconds since 1970, and what makes it the only one.
_CONTENT = Struct("16s32sQ16s")


@dataclass(frozen=True, slots=True)
class Bounds:
    """The number of segments with a user's hash, of segments of events and of parts of a trail that a preview reads."""

    segments: int = 400
    event_segments: int = 1_000
    parts_of_trail: int = 20


@dataclass(slots=True)
class FoundRecords:
    """The records of a user in an environment. With `more`, it is at least this: the preview has ended early.

    `attributes` has the names of attributes that were kept with evaluations, and with how many.
    """

    environment_id: UUID
    evaluations: int = 0
    events: int = 0
    release_users: int = 0
    attributes: Counter[str] = field(default_factory=Counter)
    more: bool = False


@dataclass(frozen=True, slots=True)
class Preview:
    """The records that an erasure would erase in environments and audit trails, and the confirmation, which expires.

    `named_by` are rules and segments that stay as they are. With `more_changes` there are at least so many changes, and
    with `more_named_by` perhaps more rules and segments.
    """

    found: Sequence[FoundRecords]
    changes: int
    more_changes: bool
    named_by: Sequence[NamedBy]
    more_named_by: bool
    confirmation: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Erasures:
    """The use cases. They raise Error NOT_FOUND for projects that are not the actor's."""

    database: Database
    now: Callable[[], datetime]
    digests: Digests
    sealer: Sealer
    secret_key: str = field(repr=False)
    bounds: Bounds = Bounds()

    async def preview(self, actor: Actor, project_id: UUID, subject: Subject) -> Preview:
        """Count what there is of a user, and confirm that it may be erased in the next minutes."""
        async with self.database.read() as connection:
            _, member = await open_membership(connection, actor, project_id, Permission.USERS_ERASE)
        preview = await self._preview([project_id], project_id, subject)
        if may(member, Permission.FLAGS_READ) and may(member, Permission.PROJECT_READ):
            return preview
        return replace(preview, named_by=[], more_named_by=True)

    async def request(self, actor: Actor, project_id: UUID, subject: Subject, confirmation: str) -> Erasure:
        """Order an erasure, which is done in the background. From now on, late records are stored without the user.

        Raises:
            Error: INVALID if the confirmation is of another user or project, or has expired; CONFLICT if it has been
                used, or if too many erasures of the project are not done.
        """
        async with self.database.read() as connection:
            await open_project(connection, actor, project_id, Permission.USERS_ERASE)
        nonce = self._require(confirmation, project_id, subject)
        return await self._request(actor, project_id, subject, nonce)

    async def preview_everywhere(self, project_id: UUID | None, subject: Subject) -> Preview:
        """The same from the command line, for one project or for all. Raises Error NOT_FOUND."""
        return await self._preview(await self._list_projects(project_id), project_id, subject)

    async def request_everywhere(
        self, project_id: UUID | None, subject: Subject, confirmation: str
    ) -> Sequence[Erasure]:
        """The same from the command line, for one project or for all; an erasure for each."""
        nonce = self._require(confirmation, project_id, subject)
        projects = await self._list_projects(project_id)
        return [await self._request(COMMAND_LINE, each, subject, nonce) for each in projects]

    async def find(self, erasure: Erasure) -> Erasure:
        """An erasure as it is now."""
        async with self.database.read_history() as connection:
            found = await erasures_store.find_erasure(connection, erasure.project_id, erasure.id)
        if found is None:
            raise not_found("erasure")
        return found

    async def _list_projects(self, project_id: UUID | None) -> Sequence[UUID]:
        async with self.database.read() as connection:
            found = await projects_store.list_ids(connection)
        if project_id is None:
            return found
        if project_id not in found:
            raise Error(Code.NOT_FOUND, f"There is no project {project_id}.")
        return [project_id]

    async def _preview(self, project_ids: Sequence[UUID], place: UUID | None, subject: Subject) -> Preview:
        found = []
        for project_id in project_ids:
            async with self.database.read() as connection:
                environments = await environments_store.list_environments(connection, project_id)
            found += [await self._count(each.id, subject) for each in environments]
        changes, more_changes = 0, False
        named_by: list[NamedBy] = []
        more_named_by = False
        for project_id in project_ids:
            async with self.database.read() as connection:
                naming, more = await targeting_store.list_naming(connection, project_id, subject)
            named_by, more_named_by = [*named_by, *naming], more_named_by or more
            most_parts = self.bounds.parts_of_trail
            count, more = await count_in_trail(self.database, project_id, subject, most_parts=most_parts)
            changes, more_changes = changes + count, more_changes or more
        expires_at = (self.now() + CONFIRMATION).replace(microsecond=0)
        content = (*self._content(place, subject), int(expires_at.timestamp()), secrets.token_bytes(16))
        confirmation = self._links.make(*content)
        return Preview(found, changes, more_changes, named_by, more_named_by, confirmation, expires_at)

    def _require(self, confirmation: str, place: UUID | None, subject: Subject) -> bytes:
        """Return what makes a confirmation the only one."""
        found = self._links.read(confirmation)
        if found is None or found[:2] != self._content(place, subject) or found[2] < self.now().timestamp():
            raise invalid_field(
                "confirmation", "is not of this user and project, or has expired. Ask for a preview again"
            )
        nonce: bytes = found[3]
        return nonce

    async def _request(self, actor: Actor, project_id: UUID, subject: Subject, nonce: bytes) -> Erasure:
        now = self.now()
        erasure = Erasure(_id_of(nonce, project_id), project_id, self.digests.shown(subject), now, now + CLOCKS_APART)
        async with self.database.read_history() as history:
            if await erasures_store.count_unfinished(history, project_id) >= UNFINISHED_MAX:
                raise Error(Code.CONFLICT, f"{UNFINISHED_MAX} erasures of this project are not done yet. Wait for one.")
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            if actor is COMMAND_LINE:
                await projects_store.find_project_for_update(connection, project_id)
            else:
                await open_project(connection, actor, project_id, Permission.USERS_ERASE, for_update=True)
            environments = await environments_store.list_environments(connection, project_id)
            if await find_latest_change(connection, project_id, erasure.id) is None:
                after = RequestedErasure(erasure.id, project_id, erasure.digests)
                await record(transaction, change_of(actor, "erasure.requested", now, Scope(project_id), after=after))
        # A confirmation that is in the trail is used only when its erasure is stored: the history may have failed.
        async with self.database.write_history() as history:
            numbers = await batches.lock_environments(history, {each.id for each in environments})
            sealed = self.sealer.seal(subject.encode(), erasure.id.bytes)
            if await erasures_store.create_erasure(history, erasure, sealed):
                digests = self.digests.of_subject(subject)
                await erased_users.add_erased_users(history, numbers.values(), digests, microseconds(erasure.until))
            elif actor is not COMMAND_LINE:
                raise Error(Code.CONFLICT, "This confirmation has been used already. Ask for a preview again.")
        return erasure if actor is not COMMAND_LINE else await self.find(erasure)  # a killed command goes on

    async def list_erasures(self, actor: Actor, project_id: UUID) -> list[Erasure]:
        """The erasures of a project, newest first."""
        async with self.database.read() as connection:
            await open_project(connection, actor, project_id, Permission.USERS_ERASE)
        async with self.database.read_history() as connection:
            return await erasures_store.list_erasures(connection, project_id)

    async def get_erasure(self, actor: Actor, project_id: UUID, erasure_id: UUID) -> Erasure:
        """One erasure."""
        async with self.database.read() as connection:
            await open_project(connection, actor, project_id, Permission.USERS_ERASE)
        async with self.database.read_history() as connection:
            found = await erasures_store.find_erasure(connection, project_id, erasure_id)
        if found is None:
            raise not_found("erasure")
        return found

    @property
    def _links(self) -> SignedLinks:
        return SignedLinks(self.secret_key, "erasure", _CONTENT)

    def _content(self, place: UUID | None, subject: Subject) -> tuple[bytes, bytes]:
        """The content of a confirmation: a project, or all of them, and a user."""
        shown = self.digests.shown(subject)
        user = b"".join(bytes.fromhex(shown.get(name, "00" * 16)) for name in ("user_id", "user_email"))
        return (place or UUID(int=0)).bytes, user

    async def _count(self, environment_id: UUID, subject: Subject) -> FoundRecords:
        found = FoundRecords(environment_id)
        until = microseconds(self.now() + CLOCKS_APART)
        async with self.database.read_history() as connection:
            number = await batches.find_environment_number(connection, environment_id)
            if number is not None:
                await self._count_evaluations(connection, number, subject, until, found)
                await self._count_events(connection, number, subject, until, found)
            exposed = await exposures_store.list_exposures(connection, environment_id, subject.units)
            found.release_users = len({(each.release_id, each.unit) for each in exposed})
        return found

    async def _count_evaluations(
        self, connection: Connection, number: int, subject: Subject, until: int, found: FoundRecords
    ) -> None:
        after: int | None = 0
        examined = 0
        while after is not None:
            some = await erasing.find_segments(connection, number, subject, after=after, until=until)
            for start in range(0, len(some.ids), erasing.READ_AT_ONCE):
                if examined >= self.bounds.segments:
                    found.more = True
                    return
                ids = some.ids[start : start + erasing.READ_AT_ONCE]
                rewritten = await erasing.rewrite_segments(connection, number, ids, subject, until)
                for each in rewritten:
                    found.evaluations += each.records
                    found.attributes.update(each.attributes)
                examined += len(ids)
            after = some.next_after

    async def _count_events(
        self, connection: Connection, number: int, subject: Subject, until: int, found: FoundRecords
    ) -> None:
        after: int | None = 0
        examined = 0
        while after is not None:
            if examined >= self.bounds.event_segments:
                found.more = True
                return
            some = await erasing.find_event_segments(connection, number, after=after)
            rewritten = await erasing.rewrite_event_segments(connection, some.ids, subject, until)
            found.events += sum(each.records for each in rewritten)
            examined += len(some.ids)
            after = some.next_after


def _id_of(nonce: bytes, project_id: UUID) -> UUID:
    """The id of the erasure in a project that a confirmation is good for."""
    return UUID(bytes=hashlib.sha256(nonce + project_id.bytes).digest()[:16], version=5)
