"""Resources with sensible default values; a test sets only the values that matter to it."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from uuid_utils.compat import uuid7

from flagstaff.database.database import Database
from flagstaff.flags.flags import Flag, Rule, RuleType
from flagstaff.flags.flags_store import create_flag
from flagstaff.flags.targeting.rules_store import create_rule
from flagstaff.flags.targeting.segments import Segment
from flagstaff.flags.targeting.segments_store import create_segment
from flagstaff.identity.accounts.accounts import Account
from flagstaff.identity.accounts.accounts_store import create_account
from flagstaff.permissions.members import Member, Role
from flagstaff.permissions.permissions import Permission
from flagstaff.projects.access_tokens.access_tokens import AccessToken
from flagstaff.projects.environments_store import create_environment
from flagstaff.projects.members.invitations import INVITATION_LIFETIME, Invitation
from flagstaff.projects.members.members_store import save_member
from flagstaff.projects.projects import Environment, Project, is_critical
from flagstaff.projects.projects_store import create_project
from flagstaff.projects.sdk_keys import KeyKind, SdkKey
from flagstaff.releases.plans import Step, WhenLate
from flagstaff.releases.releases import Release, State
from flagstaff.values.keys import new_sdk_key

AT = datetime(2026, 11, 20, 10, 0, 0, 123456, tzinfo=UTC)


def make_account(**values: Any) -> Account:
    """An account with a unique email."""
    account_id = uuid7()
    account = Account(id=account_id, email=f"{account_id.hex}@example.com", password_hash="a hash", created_at=AT)
    return replace(account, **values)


def make_access_token(account: Account, **values: Any) -> AccessToken:
    """A personal token of an account, which may read flags everywhere and never expires."""
    token = AccessToken(
        id=uuid7(),
        account_id=account.id,
        email=account.email,
        project_id=None,
        name="Deployments",
        permissions=(Permission.FLAGS_READ,),
        environments=None,
        created_at=AT,
        expires_at=None,
        last_used_at=None,
    )
    return replace(token, **values)


def make_sdk_key(environment: Environment | None = None, creator: Account | None = None, **values: Any) -> SdkKey:
    """A server's key of an environment, which never expires."""
    environment = environment or make_environment(uuid7())
    key = SdkKey(
        id=uuid7(),
        project_id=environment.project_id,
        environment_id=environment.id,
        environment=environment.key,
        name="Checkout service",
        kind=KeyKind.SERVER,
        hint="abcd",
        creator_id=creator.id if creator else None,
        creator_email=creator.email if creator else None,
        created_at=AT,
        expires_at=None,
    )
    return replace(key, **values)


def make_project(owner_id: UUID | None = None, **values: Any) -> Project:
    """A project with a unique SDK key."""
    project = Project(
        id=uuid7(),
        owner_id=owner_id or uuid7(),
        name="Shop",
        description=None,
        sdk_key=new_sdk_key(),
        created_at=AT,
        updated_at=AT,
    )
    return replace(project, **values)


def make_member(project_id: UUID | None = None, account: Account | None = None, **values: Any) -> Member:
    """An owner without a role of its own in any environment."""
    account = account or make_account()
    member = Member(
        project_id=project_id or uuid7(),
        account_id=account.id,
        email=account.email,
        role=Role.OWNER,
        environments={},
        created_at=AT,
    )
    return replace(member, **values)


def make_invitation(project: Project, **values: Any) -> Invitation:
    """An invitation of an editor by the owner of a project, which has not been mailed."""
    invitation = Invitation(
        id=uuid7(),
        project_id=project.id,
        email="eve@example.com",
        role=Role.EDITOR,
        environments={"production": Role.VIEWER},
        inviter_id=project.owner_id,
        created_at=AT,
        expires_at=AT + INVITATION_LIFETIME,
        sent_at=None,
    )
    return replace(invitation, **values)


def make_environment(project_id: UUID | None = None, **values: Any) -> Environment:
    """An environment with the key `production`."""
    environment = Environment(
        id=uuid7(), project_id=project_id or uuid7(), name="Production", key="production", created_at=AT
    )
    environment = replace(environment, **values)
    return environment if "critical" in values else replace(environment, critical=is_critical(environment.key))


def make_flag(environment: Environment | None = None, **values: Any) -> Flag:
    """A flag that is on for everyone."""
    environment = environment or make_environment()
    flag = Flag(
        id=uuid7(),
        project_id=environment.project_id,
        environment_id=environment.id,
        name="New checkout",
        key="new-checkout",
        description=None,
        enabled=True,
        rollout_percentage=0,
        created_at=AT,
        updated_at=AT,
    )
    return replace(flag, **values)


def make_rule(flag: Flag | None = None, **values: Any) -> Rule:
    """An enabled rule for the user `ada`."""
    rule = Rule(
        id=uuid7(),
        flag_id=flag.id if flag else uuid7(),
        rule_type=RuleType.USER_ID,
        rule_value="ada",
        priority=0,
        enabled=True,
        created_at=AT,
        updated_at=AT,
    )
    return replace(rule, **values)


def make_segment(project_id: UUID | None = None, **values: Any) -> Segment:
    """A segment with the key `beta`, to which everyone belongs."""
    segment = Segment(
        id=uuid7(),
        project_id=project_id or uuid7(),
        key="beta",
        name="Beta testers",
        description=None,
        conditions=(),
        created_at=AT,
        updated_at=AT,
    )
    return replace(segment, **values)


async def store_all(
    database: Database, *resources: Account | Project | Member | Environment | Segment | Flag | Rule
) -> None:
    """Store resources, parents first, in one transaction."""
    async with database.transaction() as transaction:
        for resource in resources:
            match resource:
                case Account():
                    await create_account(transaction.connection, resource)
                case Project():
                    await create_project(transaction.connection, resource)
                case Member():
                    await save_member(transaction.connection, resource)
                case Environment():
                    await create_environment(transaction.connection, resource)
                case Segment():
                    await create_segment(transaction.connection, resource)
                case Flag():
                    await create_flag(transaction.connection, resource)
                case Rule():
                    await create_rule(transaction.connection, resource)


async def store_environment(database: Database) -> Environment:
    """Store an account, a project of it, and its environment `production`, which is returned."""
    account = make_account()
    project = make_project(account.id)
    environment = make_environment(project.id)
    await store_all(database, account, project, environment)
    return environment


def make_release(*steps: Step, **values: Any) -> Release:
    """A release of these steps."""
    release = Release(
        id=uuid7(),
        project_id=uuid7(),
        environment_id=uuid7(),
        flag_id=uuid7(),
        name=None,
        steps=steps,
        guards=(),
        thresholds=(),
        false_alarm_rate=0.05,
        when_late=WhenLate.RUN,
        state=State.RUNNING,
        reason=None,
        author_id=None,
        author_email=None,
        token_id=None,
        token_name=None,
        lost_authority=False,
        applied=(),
        alarms=(),
        counts_from=AT,
        due_at=None,
        paused_at=None,
        ended_at=None,
        mark=0,
        created_at=AT,
        updated_at=AT,
    )
    return replace(release, **values)
