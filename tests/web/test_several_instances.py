"""Several instances on one PostgreSQL: once a call has returned, no instance serves the state before its change."""

import asyncio
import io
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID, uuid4

import asyncpg
import httpx
import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.identity.accounts.passwords import Passwords
from flagstaff.serving.idle_projects import SWEEPS
from flagstaff.settings import Settings
from flagstaff.values.errors import Code, Error
from tests.support.api import Caller, Json, flag_path, project_path
from tests.support.postgres import PostgresServer
from tests.support.sessions import PASSWORD, log_in
from tests.support.stores import Store, postgresql_store

_PASSWORD = "correct horse battery staple"
Start = Callable[..., Awaitable[Flagstaff]]


@pytest.fixture
async def shared(postgres_template: PostgresServer, tmp_path: Path) -> AsyncIterator[Store]:
    """A database for several instances."""
    async with postgresql_store(postgres_template, tmp_path) as store:
        yield store


@pytest.fixture
async def administrator(shared: Store) -> AsyncIterator[asyncpg.Connection]:
    """A direct connection to the database."""
    connection = await asyncpg.connect(shared.database_url)
    yield connection
    await connection.close()


@pytest.fixture
async def role(administrator: asyncpg.Connection) -> AsyncIterator[str]:
    """A role with an instance's privileges, which a test may revoke."""
    name = f"role_{uuid4().hex}"
    await administrator.execute(
        f"""
        CREATE ROLE {name} LOGIN;
        GRANT USAGE ON SCHEMA public, history TO {name};
        GRANT ALL ON ALL TABLES IN SCHEMA public, history TO {name};
        GRANT ALL ON ALL SEQUENCES IN SCHEMA public, history TO {name};
        """
    )
    yield name
    await administrator.execute(f"DROP OWNED BY {name}; DROP ROLE {name}")


@pytest.fixture
async def start(shared: Store, role: str, passwords: Passwords) -> AsyncIterator[Start]:
    """Start an instance by name; each has its own data directory, and optionally its own role."""
    async with AsyncExitStack() as stack:

        async def start_instance(name: str, *, role: str = "postgres", confirm_seconds: float = 5) -> Flagstaff:
            assert shared.database_url is not None
            settings = Settings.load(
                {
                    "FLAGSTAFF_DATABASE_URL": shared.database_url.replace("postgres@", f"{role}@"),
                    "FLAGSTAFF_DATA_DIR": str(shared.data_directory / name),
                    "FLAGSTAFF_SECRET_KEY": "k" * 32,
                }
            )
            instance = Flagstaff(settings, passwords=passwords, confirm_seconds=confirm_seconds)
            stack.push_async_callback(instance.stop)
            await instance.start()
            return instance

        yield start_instance


@dataclass
class Scene:
    """Ada works at the first instance; the second one serves applications and has loaded her flag."""

    ada: Caller
    second: Caller
    sdk_key: str
    project: Json
    flag: Json

    async def toggle(self, flag: Json | None = None) -> httpx.Response:
        """Toggle a flag, by default Ada's."""
        return await self.ada.post(f"{flag_path(flag or self.flag)}/toggle")

    async def send_toggle(self, caller: Caller, key: str | None) -> httpx.Response:
        """Toggle the flag, optionally with an Idempotency-Key."""
        headers = {"idempotency-key": key} if key else None
        return await caller.post(f"{flag_path(self.flag)}/toggle", headers=headers)

    async def count_toggles(self) -> int:
        """Return how often the flag was toggled, according to the audit trail."""
        path = f"{project_path(self.project)}/changes"
        return len((await self.ada.get(path, params={"action": "flag.toggled"})).json()["items"])

    async def is_on_at_second(self) -> bool:
        """Return whether the flag is on at the second instance."""
        answer = await self.second.evaluate(self.sdk_key)
        enabled: bool = answer.json()["flags"][self.flag["key"]]["enabled"]
        return enabled

    async def until_second(self, *, is_on: bool) -> None:
        """Wait until the second instance returns this result."""
        async with asyncio.timeout(10):
            while await self.is_on_at_second() is not is_on:
                await asyncio.sleep(0.01)

    async def until_ready(self) -> None:
        """Wait until both instances are ready."""
        async with asyncio.timeout(10):
            for instance in (self.ada, self.second):
                while (await instance.get("/ready")).status_code != 200:
                    await asyncio.sleep(0.01)


@pytest.fixture
def confirm_seconds() -> float:
    """Return how long a change waits for the second instance."""
    return 5


@pytest.fixture
async def scene(start: Start, role: str, confirm_seconds: float, log_stream: io.StringIO) -> AsyncIterator[Scene]:
    """Two instances and a flag that is on. They log as servers do: structlog's own tracebacks take seconds."""
    first, second = await start("first", confirm_seconds=confirm_seconds), await start("second", role=role)
    await first.identity.accounts.register(email="ada@example.com", password=_PASSWORD)
    token = await log_in(first, email="ada@example.com", password=_PASSWORD)
    async with Caller(first.edge.asgi, token=token) as ada, Caller(second.edge.asgi) as application:
        project = await ada.create_project()
        flag = await ada.create_flag(await ada.get_environment(project))
        scene = Scene(ada, application, project["sdk_key"], project, flag)
        assert await scene.is_on_at_second()
        yield scene


async def unload(instance: Flagstaff) -> None:
    """Let an hour pass in which nobody asks for flags."""
    for _ in range(SWEEPS + 1):
        await instance.serving.idle_projects.sweep()
    assert not instance.serving.snapshots.loaded


async def test_changes_to_a_project_that_no_instance_has_in_memory_are_seen_at_once(
    scene: Scene, start: Start, passwords: Passwords
) -> None:
    third = await start("third")
    async with Caller(third.edge.asgi) as application:
        assert (await application.evaluate(scene.sdk_key)).status_code == 200
        for is_on in (False, True, False):
            await unload(third)
            assert (await scene.toggle()).status_code == 200
            assert not third.serving.snapshots.loaded, "a change does not load the project"
            answer = await application.evaluate(scene.sdk_key)
            assert answer.json()["flags"][scene.flag["key"]]["enabled"] is is_on
        await unload(third)
        rotated = await scene.ada.post(f"{project_path(scene.project)}/regenerate-key")
        assert rotated.status_code == 200
        assert (await application.evaluate(scene.sdk_key)).status_code == 401
        assert not third.serving.snapshots.loaded, "a key that has ended does not load the project"
        assert (await application.evaluate(rotated.json()["sdk_key"])).status_code == 200


async def test_toggles_race_with_first_evaluations_of_unloaded_projects(scene: Scene, start: Start) -> None:
    third = await start("third")
    async with Caller(third.edge.asgi) as application:
        for number in range(10):
            await unload(third)
            racing, toggled = await asyncio.gather(application.evaluate(scene.sdk_key), scene.toggle())
            assert (racing.status_code, toggled.status_code) == (200, 200)
            answer = await application.evaluate(scene.sdk_key)
            assert answer.json()["flags"][scene.flag["key"]]["enabled"] is (number % 2 == 1)


async def test_a_token_that_ends_at_one_instance_has_ended_at_every_other(scene: Scene) -> None:
    headers = {"authorization": f"Bearer {scene.ada.token}"}
    assert (await scene.second.get("/api/me", headers=headers)).status_code == 200

    assert (await scene.ada.post("/auth/logout")).status_code == 204

    assert (await scene.second.get("/api/me", headers=headers)).status_code == 401


async def test_a_session_that_ends_at_one_instance_has_ended_at_every_other(scene: Scene) -> None:
    scene.second.headers["authorization"] = f"Bearer {scene.ada.token}"
    (session,) = (await scene.second.get("/api/me/sessions")).json()
    assert session["current"] is True

    assert (await scene.ada.delete(f"/api/me/sessions/{session['id']}")).status_code == 204

    assert (await scene.second.get("/api/me")).status_code == 401


async def test_an_access_token_that_is_revoked_at_one_instance_is_refused_by_every_other(scene: Scene) -> None:
    for path in ("/api/me/tokens", f"{project_path(scene.project)}/tokens"):
        body = {"name": "CI", "permissions": ["project:read"], "current_password": PASSWORD}
        issued = (await scene.ada.post(path, json=body)).json()
        scene.second.headers["authorization"] = f"Bearer {issued['token']}"
        assert (await scene.second.get(project_path(scene.project))).status_code == 200

        assert (await scene.ada.delete(f"{path}/{issued['id']}")).status_code == 204

        assert (await scene.second.get(project_path(scene.project))).status_code == 401


async def test_an_account_that_is_deactivated_at_one_instance_is_out_at_every_other(scene: Scene, start: Start) -> None:
    third = await start("third")
    account = await third.identity.accounts.register(email="eve@example.com", password=_PASSWORD)
    scene.second.headers["authorization"] = f"Bearer {await log_in(third, email=account.email, password=_PASSWORD)}"
    assert (await scene.second.get("/api/me")).status_code == 200

    answer = await scene.ada.put(f"/api/admin/accounts/{account.id}", json={"active": False})

    assert answer.status_code == 200
    assert (await scene.second.get("/api/me")).status_code == 401
    with pytest.raises(Error) as refusal:
        await log_in(third, email=account.email, password=_PASSWORD)
    assert refusal.value.code is Code.FORBIDDEN


async def test_registration_that_is_closed_at_one_instance_is_closed_at_every_other(scene: Scene) -> None:
    assert (await scene.ada.put("/api/admin/settings", json={"registration": "closed"})).status_code == 200

    answer = await scene.second.post("/auth/register", json={"email": "eve@example.com", "password": _PASSWORD})

    assert answer.status_code == 403


def check_stored_but_unconfirmed(answer: httpx.Response) -> None:
    """Check for a 503 that says that the change is stored, and does not invite a retry."""
    assert answer.status_code == 503
    assert answer.json()["detail"].startswith("The change is stored")
    assert "cannot be reached" not in answer.json()["detail"]
    assert "retry-after" not in answer.headers


@pytest.mark.parametrize("confirm_seconds", [0.5])
async def test_a_change_that_an_instance_does_not_confirm_is_in_force_but_not_called_done(
    scene: Scene, shared: Store
) -> None:
    deaf = await asyncpg.connect(shared.database_url, server_settings={"application_name": "flagstaff feed deaf"})
    try:
        check_stored_but_unconfirmed(await scene.toggle())
    finally:
        await deaf.close()
    assert not await scene.is_on_at_second()


@pytest.mark.parametrize("confirm_seconds", [0.5])
async def test_a_toggle_that_may_be_stored_does_not_invite_a_retry(scene: Scene, shared: Store) -> None:
    deaf = await asyncpg.connect(shared.database_url, server_settings={"application_name": "flagstaff feed deaf"})
    try:
        for _ in range(2):
            answer = await scene.send_toggle(scene.ada, "once")
            check_stored_but_unconfirmed(answer)
    finally:
        await deaf.close()
    answer = await scene.send_toggle(scene.ada, "once")
    assert (answer.status_code, answer.headers["idempotency-replayed"]) == (200, "true")
    assert answer.json()["enabled"] is False
    assert not await scene.is_on_at_second()
    assert await scene.count_toggles() == 1


def check_not_answered_yet(answer: httpx.Response) -> None:
    """Check for a 503 that says that the request has changed nothing and can be repeated."""
    assert answer.status_code == 503, answer.text
    assert answer.json()["detail"].startswith("Nothing was changed by this request. Another request")
    assert answer.headers["retry-after"] == "5"


@asynccontextmanager
async def deaf_instance(store: Store) -> AsyncIterator[None]:
    """Run an instance that answers no question."""
    deaf = await asyncpg.connect(store.database_url, server_settings={"application_name": "flagstaff feed deaf"})
    try:
        yield
    finally:
        await deaf.close()


@dataclass(frozen=True)
class Refused:
    """A write as a method, a path, a body and headers, and the write without a body that makes it fail.

    Without the latter, the write makes its repetition fail.
    """

    status: int
    write: tuple[str, str]
    first: tuple[str, str] | None = None
    body: Json | None = None
    headers: dict[str, str] | None = None


REFUSED = {
    "a key that is revoked already": Refused(404, ("DELETE", "{project}/sdk-keys/{key}")),
    "a flag that is deleted already": Refused(404, ("DELETE", "{flag}")),
    "a rule that is deleted already": Refused(404, ("DELETE", "{flag}/rules/{rule}")),
    "a segment that is deleted already": Refused(404, ("DELETE", "{project}/segments/{segment}")),
    "an environment that is deleted already": Refused(404, ("DELETE", "{environment}")),
    "a project that is deleted already": Refused(404, ("DELETE", "{project}")),
    "a change of what is deleted": Refused(404, ("POST", "{flag}/toggle"), ("DELETE", "{flag}")),
    "a flag that is archived": Refused(409, ("POST", "{flag}/toggle"), ("POST", "{flag}/archive")),
    "a flag that exists already": Refused(
        409, ("POST", "{environment}/flags"), body={"name": "New", "key": "new", "enabled": True}
    ),
    "a key in an environment that is deleted": Refused(
        400,
        ("POST", "{project}/sdk-keys"),
        ("DELETE", "{environment}"),
        {"name": "k", "environment": "production", "kind": "server"},
    ),
    "a flag that is changed already": Refused(412, ("POST", "{flag}/toggle"), headers={"if-match": "{tag}"}),
}


@pytest.mark.parametrize("confirm_seconds", [0.5])
@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
async def test_a_refusal_that_rests_on_a_change_is_not_given_before_the_change_is_confirmed(
    scene: Scene, shared: Store, case: Refused
) -> None:
    project, flag = project_path(scene.project), flag_path(scene.flag)
    await scene.ada.create_environment(scene.project, key="canary")  # because the last one cannot be deleted
    key = {"name": "k", "environment": "production", "kind": "server"}
    conditions = [{"attribute": "plan", "operator": "in", "values": ["pro"]}]
    segment = {"name": "Pro", "key": "pro", "conditions": conditions}
    names = {
        "project": project,
        "environment": flag.rpartition("/flags/")[0],
        "flag": flag,
        "key": (await scene.ada.post(f"{project}/sdk-keys", json=key)).json()["id"],
        "segment": (await scene.ada.post(f"{project}/segments", json=segment)).json()["id"],
        "rule": (await scene.ada.create_rule(scene.flag))["id"],
        "tag": (await scene.ada.get(flag)).headers["etag"],
    }
    headers = {name: value.format_map(names) for name, value in (case.headers or {}).items()}

    async def write() -> httpx.Response:
        method, path = case.write
        return await scene.ada.request(method, path.format_map(names), json=case.body, headers=headers)

    async def write_first() -> httpx.Response:
        if case.first is None:
            return await write()
        method, path = case.first
        return await scene.ada.request(method, path.format_map(names))

    async with deaf_instance(shared):
        check_stored_but_unconfirmed(await write_first())
        for _ in range(2):
            check_not_answered_yet(await write())
    assert (await write()).status_code == case.status


@pytest.mark.parametrize("confirm_seconds", [0.5])
async def test_a_refusal_that_rests_on_no_change_waits_for_nobody(scene: Scene, start: Start, shared: Store) -> None:
    third = await start("third")
    await third.identity.accounts.register(email="eve@example.com", password=_PASSWORD)
    token = await log_in(third, email="eve@example.com", password=_PASSWORD)
    missing = f"{project_path(scene.project)}/sdk-keys/{uuid4()}"
    async with Caller(third.edge.asgi, token=token) as eve, deaf_instance(shared):
        check_stored_but_unconfirmed(await scene.toggle())
        assert (await eve.delete(missing)).status_code == 404, "a stranger must not learn that the project exists"
        assert (await eve.delete(f"/api/projects/{uuid4()}")).status_code == 404
        check_not_answered_yet(await scene.ada.delete(missing))


@pytest.mark.parametrize("confirm_seconds", [0.5])
async def test_a_refusal_that_rests_on_a_confirmed_change_asks_nobody(scene: Scene, shared: Store) -> None:
    missing = f"{project_path(scene.project)}/sdk-keys/{uuid4()}"
    assert (await scene.toggle()).status_code == 200
    assert (await scene.ada.delete(missing)).status_code == 404
    async with deaf_instance(shared):
        assert (await scene.ada.delete(missing)).status_code == 404


async def test_of_two_revocations_of_a_key_at_once_neither_is_answered_while_the_key_is_accepted(
    scene: Scene, role: str, administrator: asyncpg.Connection
) -> None:
    path, body = f"{project_path(scene.project)}/sdk-keys", {"name": "k", "environment": "production", "kind": "server"}
    key = (await scene.ada.post(path, json=body)).json()
    assert (await scene.second.evaluate(key["key"])).status_code == 200

    async def revoke_and_evaluate() -> tuple[int, int]:
        revoked = await scene.ada.delete(f"{path}/{key['id']}")
        return revoked.status_code, (await scene.second.evaluate(key["key"])).status_code

    await administrator.execute(f"REVOKE SELECT ON sdk_keys FROM {role}")
    revocations = [asyncio.create_task(revoke_and_evaluate()) for _ in range(2)]
    async with asyncio.timeout(5):
        while (await scene.second.get("/ready")).status_code == 200:
            await asyncio.sleep(0.01)
    await administrator.execute(f"GRANT SELECT ON sdk_keys TO {role}")
    assert sorted(await asyncio.gather(*revocations)) == [(204, 401), (404, 401)]


@pytest.mark.parametrize("confirm_seconds", [0.5])
async def test_a_change_that_its_own_instance_cannot_load_is_not_waited_for_longer_than_others(
    scene: Scene, administrator: asyncpg.Connection
) -> None:
    assert (await scene.ada.evaluate(scene.sdk_key)).status_code == 200
    async with administrator.transaction():
        await administrator.execute("LOCK TABLE sdk_keys IN ACCESS EXCLUSIVE MODE")
        async with asyncio.timeout(10):
            answer = await scene.toggle()
        check_stored_but_unconfirmed(answer)
        assert "this instance has not loaded it within 0.5 seconds" in answer.json()["detail"]
        assert (await scene.ada.evaluate(scene.sdk_key)).json()["flags"][scene.flag["key"]]["enabled"] is True
    await scene.until_second(is_on=False)
    again = await scene.ada.put(flag_path(scene.flag), json={"enabled": False})
    assert again.status_code == 200
    assert (await scene.ada.evaluate(scene.sdk_key)).json()["flags"][scene.flag["key"]]["enabled"] is False


async def test_a_commit_with_an_unknown_outcome_is_reported_as_such(scene: Scene, shared: Store) -> None:
    administrator = await asyncpg.connect(shared.database_url)
    try:
        await administrator.execute(
            "CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS "
            "'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END';"
            "CREATE CONSTRAINT TRIGGER cut_at_the_commit AFTER UPDATE ON flags DEFERRABLE INITIALLY DEFERRED "
            "FOR EACH ROW EXECUTE FUNCTION cut()"
        )
        answer = await scene.send_toggle(scene.ada, "once")
        assert answer.status_code == 503
        assert "retry-after" not in answer.headers
        assert "it is not known whether the change was stored. Read the resource" in answer.json()["detail"]
        await administrator.execute("DROP TRIGGER cut_at_the_commit ON flags")
    finally:
        await administrator.close()
    assert (await scene.send_toggle(scene.ada, "once")).json()["enabled"] is False
    assert await scene.count_toggles() == 1


async def test_a_key_applies_to_every_instance_even_with_concurrent_requests(scene: Scene) -> None:
    scene.second.headers["authorization"] = scene.ada.headers["authorization"]
    for number in range(5):
        callers = [scene.ada, scene.second] * 10
        answers = await asyncio.gather(*(scene.send_toggle(caller, f"key-{number}") for caller in callers))
        assert {answer.status_code for answer in answers} == {200}
        assert len({answer.content for answer in answers}) == 1
        assert sum("idempotency-replayed" not in answer.headers for answer in answers) == 1
        assert await scene.is_on_at_second() is answers[0].json()["enabled"]
    assert await scene.count_toggles() == 5


@pytest.mark.parametrize("confirm_seconds", [0.5])
async def test_a_change_that_the_other_instance_cannot_load_is_not_called_done_until_it_can(
    scene: Scene, role: str, administrator: asyncpg.Connection
) -> None:
    await administrator.execute(f"REVOKE SELECT ON rules FROM {role}")
    for _ in range(3):
        check_stored_but_unconfirmed(await scene.toggle())
        assert await scene.is_on_at_second(), "it could load the new state"
        refusal = await scene.second.get("/ready")
        assert refusal.status_code == 503
        assert "1 project(s) could not be loaded" in refusal.json()["detail"]
    assert (await scene.ada.get("/ready")).status_code == 200
    assert "flagstaff_snapshots_stale 1.0" in (await scene.second.get("/metrics")).text
    await administrator.execute(f"GRANT SELECT ON rules TO {role}")
    await scene.until_second(is_on=False)
    await scene.until_ready()
    assert (await scene.toggle()).status_code == 200
    assert await scene.is_on_at_second()


async def test_who_demands_a_change_that_the_other_instance_cannot_load_does_not_get_the_old_state(
    scene: Scene, role: str, administrator: asyncpg.Connection
) -> None:
    await administrator.execute(f"REVOKE SELECT ON rules FROM {role}")
    toggle = await scene.toggle()
    demand = {"flagstaff-min-revision": toggle.headers["flagstaff-revision"], "x-sdk-key": scene.sdk_key}
    body = {"environment": "production"}
    check_stored_but_unconfirmed(toggle)
    assert await scene.is_on_at_second(), "it could load the new state"
    assert (await scene.second.post("/sdk/v1/evaluate", json=body, headers=demand)).status_code == 503
    await administrator.execute(f"GRANT SELECT ON rules TO {role}")
    answer = await scene.second.post("/sdk/v1/evaluate", json=body, headers=demand)
    assert answer.json()["flags"][scene.flag["key"]]["enabled"] is False


async def test_a_change_waits_for_an_instance_that_can_load_it_a_little_later(
    scene: Scene, role: str, administrator: asyncpg.Connection
) -> None:
    await administrator.execute(f"REVOKE SELECT ON rules FROM {role}")
    toggle = asyncio.create_task(scene.toggle())
    async with asyncio.timeout(5):
        while (await scene.second.get("/ready")).status_code == 200:
            await asyncio.sleep(0.01)
    await administrator.execute(f"GRANT SELECT ON rules TO {role}")
    assert (await toggle).status_code == 200
    assert not await scene.is_on_at_second()


async def test_a_project_that_cannot_be_loaded_keeps_no_instance_from_hearing_of_the_others(
    scene: Scene, administrator: asyncpg.Connection
) -> None:
    other = await scene.ada.create_flag()
    rule = await scene.ada.create_rule(other)
    project = (await scene.ada.get(f"/api/projects/{other['project_id']}")).json()
    for instance in (scene.ada, scene.second):
        assert (await instance.evaluate(project["sdk_key"])).status_code == 200
    await administrator.execute("UPDATE rules SET rule_type = 'device' WHERE id = $1", UUID(rule["id"]))
    check_stored_but_unconfirmed(await scene.toggle(other))
    assert (await scene.ada.get("/ready")).status_code == 503
    for wanted in (False, True):
        assert (await scene.toggle()).status_code == 200
        assert await scene.is_on_at_second() is wanted
    await administrator.execute("UPDATE rules SET rule_type = 'user_id'")
    await scene.until_ready()
    assert (await scene.toggle(other)).status_code == 200


@pytest.mark.parametrize(
    "message",
    ["", "nonsense", "change x", "change x not-an-id -", "change x y z w", "question x 1 not-an-id", "question x"],
)
async def test_a_malformed_notification_is_ignored(
    scene: Scene, administrator: asyncpg.Connection, message: str
) -> None:
    await administrator.execute("SELECT pg_notify('flagstaff', $1)", message)
    assert (await scene.toggle()).status_code == 200
    assert not await scene.is_on_at_second()
    assert (await scene.second.get("/ready")).status_code == 200
    assert 'flagstaff_task_restarts_total{task="feed"} 0.0' in (await scene.second.get("/metrics")).text


async def test_altering_a_table_does_not_end_the_instances(scene: Scene, administrator: asyncpg.Connection) -> None:
    for kind in ("bigint", "integer"):
        await administrator.execute(f"ALTER TABLE flags ALTER COLUMN rollout_percentage TYPE {kind}")
        async with asyncio.timeout(10):
            while (await scene.toggle()).status_code != 200:  # one of the driver's plans is out of date, once
                pass
        stored = (await scene.ada.get(flag_path(scene.flag))).json()["enabled"]
        assert await scene.is_on_at_second() is stored


async def test_after_a_toggle_returned_the_other_instance_answers_the_new_state(scene: Scene) -> None:
    for wanted in (False, True) * 20:
        assert (await scene.toggle()).status_code == 200
        assert await scene.is_on_at_second() is wanted


async def test_after_a_key_rotation_returned_the_other_instance_refuses_the_old_key(scene: Scene) -> None:
    rotated = (await scene.ada.post(f"{project_path(scene.project)}/regenerate-key")).json()
    assert (await scene.second.evaluate(scene.sdk_key)).status_code == 401
    assert (await scene.second.evaluate(rotated["sdk_key"])).status_code == 200


async def test_a_project_created_at_one_instance_is_known_to_the_other(scene: Scene) -> None:
    created = await scene.ada.create_project(name="Second shop")
    assert (await scene.second.evaluate(created["sdk_key"])).json() == {"flags": {}}


async def test_after_a_deletion_returned_the_other_instance_refuses_the_key(scene: Scene) -> None:
    assert (await scene.ada.delete(project_path(scene.project))).status_code == 204
    assert (await scene.second.evaluate(scene.sdk_key)).status_code == 401


@pytest.mark.parametrize("confirm_seconds", [2.0])
async def test_an_instance_that_has_stopped_delays_no_change(scene: Scene, start: Start) -> None:
    third = await start("third")
    await third.stop()
    assert (await scene.toggle()).status_code == 200


async def test_an_instance_that_lost_its_feed_is_not_ready_until_it_has_caught_up(
    scene: Scene, administrator: asyncpg.Connection
) -> None:
    # It can open no other connection until it is allowed to. Otherwise it might recover before the test looks.
    allow = "UPDATE pg_database SET datallowconn = $1 WHERE datname = current_database()"
    await administrator.execute(allow, False)
    await administrator.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND starts_with(application_name, 'flagstaff feed ')"
    )
    # A change by another program, which no instance announces.
    await administrator.execute("UPDATE flags SET enabled = false")
    async with asyncio.timeout(10):
        while (refusal := await scene.second.get("/ready")).status_code == 200:
            await asyncio.sleep(0.001)
    await administrator.execute(allow, True)
    assert refusal.json()["detail"].startswith("The task feed, which applies the changes of other instances, is not")
    await scene.until_ready()
    assert not await scene.is_on_at_second()
    figures = (await scene.second.get("/metrics")).text
    assert 'flagstaff_task_restarts_total{task="feed"} 0.0' not in figures  # as often as it was refused
    assert 'flagstaff_task_up{task="feed"} 1.0' in figures
    assert (await scene.toggle()).status_code == 200
    assert await scene.is_on_at_second()


async def test_many_toggles_at_once_leave_both_instances_with_the_same_answer(scene: Scene) -> None:
    answers = await asyncio.gather(*(scene.toggle() for _ in range(41)))
    assert {answer.status_code for answer in answers} == {200}
    assert not await scene.is_on_at_second()


@pytest.mark.parametrize("confirm_seconds", [0.5])
async def test_administrators_see_which_instances_serve_which_changes(
    scene: Scene, role: str, administrator: asyncpg.Connection
) -> None:
    former = (
        "INSERT INTO instances (id, address, version, started_at, renewals, is_leaving, expires_at) "
        "VALUES ($1, $2, '0.0.9', 0, 1, $3, (extract(epoch FROM now()) * 1000000)::bigint + 1000000 * $4::bigint)"
    )
    await administrator.execute(former, "a" * 16, "before-reports", False, 60)
    await administrator.execute(former, "b" * 16, "crashed", False, -60)
    await administrator.execute(former, "c" * 16, "stopped", True, -60)

    async def listed(second: str) -> Json:
        """Return the instances by id, when the second one has reported whether it serves all changes."""
        async with asyncio.timeout(10):
            while True:
                found = {each["id"]: each for each in (await scene.ada.get("/api/instances")).json()}
                states = ["current" if each["changes_behind"] == 0 else "behind" for each in found.values()]
                if sorted(states) == sorted(["current", second, "behind", "behind"]):
                    return found
                await asyncio.sleep(0.05)

    found = await listed("current")
    old, crashed = found.pop("a" * 16), found.pop("b" * 16)
    assert (old["version"], old["load"], old["changes_behind"]) == ("0.0.9", None, None)
    assert (crashed["lease"]["state"], round(crashed["lease"]["expires_in_seconds"], -1)) == ("lapsed", -60)
    assert [each["answered"] for each in found.values()].count(True) == 1
    assert {each["lease"]["state"] for each in found.values()} == {"live"}

    await administrator.execute(f"REVOKE SELECT ON rules FROM {role}")
    assert (await scene.toggle()).status_code == 503
    behind = [each for each in (await listed("behind")).values() if each["changes_behind"]]
    assert [(each["answered"], each["changes_behind"]) for each in behind] == [(False, 1)]
    assert behind[0]["seconds_behind"] > 0
    await administrator.execute(f"GRANT SELECT ON rules TO {role}")
    await listed("current")


@dataclass
class PreviousRelease:
    """A process of the previous release on the channel: it reads and sends only single questions and answers."""

    connection: asyncpg.Connection
    asked: list[list[str]] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)
    news: asyncio.Event = field(default_factory=asyncio.Event)
    _replies: asyncio.Queue[str] = field(default_factory=asyncio.Queue)

    def hear(self, *arguments: object) -> None:
        """Interpret a message as that release does."""
        match str(arguments[-1]).split():
            case ["question", asker, number, _] as words if asker != "previous":
                self.asked.append(words)
                self._replies.put_nowait(f"answer previous {asker} {number}")
            case ["question", asker, *_] as words if asker != "previous":
                self.asked.append(words)
            case ["answer", _, "previous", number]:
                self.answered.append(number)
                self.news.set()

    async def reply(self) -> None:
        """Answer until cancelled."""
        while True:
            await self.send([await self._replies.get()])

    async def send(self, messages: list[str]) -> None:
        """Send messages."""
        await self.connection.execute("SELECT pg_notify('flagstaff', m) FROM unnest($1::text[]) AS m", messages)


@pytest.fixture
async def previous(shared: Store) -> AsyncIterator[PreviousRelease]:
    """It has a session but no lease, so changes wait for it."""
    settings = {"application_name": "flagstaff feed previous"}
    made = PreviousRelease(await asyncpg.connect(shared.database_url, server_settings=settings))
    await made.connection.add_listener("flagstaff", made.hear)
    yield made
    await made.connection.close()


async def test_many_changes_at_once_wait_for_an_instance_of_the_previous_release(
    scene: Scene, previous: PreviousRelease
) -> None:
    replying = asyncio.create_task(previous.reply())
    try:
        flags = [await scene.ada.create_flag() for _ in range(8)]
        answers = await asyncio.gather(*(scene.toggle(flag) for flag in flags))
    finally:
        replying.cancel()
        await asyncio.wait([replying])
    assert {answer.status_code for answer in answers} == {200}
    assert {len(words) for words in previous.asked} == {4}, "it does not understand lists"


async def test_the_previous_release_gets_an_answer_to_each_of_its_questions(
    scene: Scene, previous: PreviousRelease
) -> None:
    numbers = [str(number) for number in range(1, 21)]
    await previous.send([f"question previous {number} {scene.project['id']}" for number in numbers])
    async with asyncio.timeout(10):
        while len(previous.answered) < 2 * len(numbers):
            previous.news.clear()
            await previous.news.wait()
    assert sorted(previous.answered) == sorted(2 * numbers), "from both instances"


@dataclass(frozen=True, slots=True)
class Listener:
    """It hears channels in a session of its own, so a message can come later than at the instance it is for."""

    connection: asyncpg.Connection

    async def listen(self, channel: str) -> asyncio.Queue[str]:
        """Return a queue that gets each message sent to the channel from now on."""
        messages: asyncio.Queue[str] = asyncio.Queue()
        await self.connection.add_listener(channel, lambda *arguments: messages.put_nowait(str(arguments[-1])))
        return messages

    async def drain(self, channel: str, messages: asyncio.Queue[str]) -> list[str]:
        """Return all messages sent so far. PostgreSQL delivers in the order of the commits, so a last one ends them."""
        await self.connection.execute("SELECT pg_notify($1, 'end')", channel)
        drained = []
        async with asyncio.timeout(10):
            while (message := await messages.get()) != "end":
                drained.append(message)
        return drained


@pytest.fixture
async def listener(shared: Store) -> AsyncIterator[Listener]:
    """A session that listens."""
    connection = await asyncpg.connect(shared.database_url)
    yield Listener(connection)
    await connection.close()


async def test_a_change_is_acknowledged_to_the_instance_that_made_it_and_to_no_other(
    scene: Scene, start: Start, listener: Listener
) -> None:
    third = await start("third")
    own_channel = f"flagstaff_{third.foundation.database.instance}"
    async with Caller(third.edge.asgi, token=scene.ada.token) as at_third:
        assert (await at_third.evaluate(scene.sdk_key)).status_code == 200
        everyone, own = await listener.listen("flagstaff"), await listener.listen(own_channel)
        revisions = []
        for _ in range(3):
            answer = await scene.send_toggle(at_third, None)
            assert answer.headers["flagstaff-live-on"] == "3/3"
            revisions.append(answer.headers["flagstaff-revision"])
    assert [message.split()[0] for message in await listener.drain("flagstaff", everyone)] == ["change"] * 3
    acknowledged = [message.split() for message in await listener.drain(own_channel, own)]
    assert {words[0] for words in acknowledged} == {"served"}
    assert len({words[1] for words in acknowledged}) == 2, "from both others"
    assert sorted(words[4] for words in acknowledged) == sorted(2 * revisions)


async def test_a_change_of_the_previous_release_is_served_and_its_question_answered(
    scene: Scene, previous: PreviousRelease, administrator: asyncpg.Connection
) -> None:
    project, environment = scene.project["id"], scene.flag["environment_id"]
    async with administrator.transaction():
        await administrator.execute("UPDATE flags SET enabled = false WHERE id = $1", UUID(scene.flag["id"]))
        await administrator.execute("UPDATE projects SET revision = revision + 1 WHERE id = $1", UUID(project))
        await administrator.execute(
            "UPDATE environments SET revision = p.revision FROM projects p WHERE project_id = p.id AND p.id = $1",
            UUID(project),
        )
        await administrator.execute(f"SELECT pg_notify('flagstaff', 'change previous {project} {environment}')")
    await previous.send([f"question previous 1 {project}"])
    async with asyncio.timeout(10):
        while len(previous.answered) < 2:
            previous.news.clear()
            await previous.news.wait()
    assert not await scene.is_on_at_second()
