"""Projects with their environments, members, invitations and SDK keys."""

import sqlalchemy as sa

from flagstaff.database.tables.columns import Moment, metadata, revision_column

projects = sa.Table(
    "projects",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("owner_id", sa.ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("description", sa.Text),
    sa.Column("sdk_key", sa.Text, nullable=False, unique=True),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("updated_at", Moment, nullable=False),
    sa.Column("demands_second_factor", sa.Boolean, nullable=False, server_default=sa.false()),
    revision_column(),
    sa.Column("shares_contents", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("history_retention_days", sa.Integer),
)

# An environment without a project is hidden: it is being built, or it was deleted and its rows are being removed.
# Whatever looks for the environments of a project cannot find it.
environments = sa.Table(
    "environments",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.ForeignKey("projects.id", ondelete="CASCADE")),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("created_at", Moment, nullable=False),
    revision_column(),
    sa.Column("critical", sa.Boolean),  # null: by its key
    # Its place in the order that members have chosen. Those that came after it was chosen share the last place.
    sa.Column("position", sa.Integer, nullable=False, server_default="2147483647"),
    sa.Column("history_retention_days", sa.Integer),
    sa.Column("built_until", Moment),  # while it is built: by when it is given up, unless its builder goes on
    sa.UniqueConstraint("project_id", "key"),
)

members = sa.Table(
    "members",
    metadata,
    sa.Column("project_id", sa.ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("account_id", sa.ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True, index=True),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("created_at", Moment, nullable=False),
)

# The roles of members in single environments, where they replace the role in the project.
environment_roles = sa.Table(
    "environment_roles",
    metadata,
    sa.Column("project_id", sa.Uuid, primary_key=True),
    sa.Column("account_id", sa.Uuid, primary_key=True),
    sa.Column("environment_id", sa.ForeignKey("environments.id", ondelete="CASCADE"), primary_key=True, index=True),
    sa.Column("role", sa.Text, nullable=False),
    sa.ForeignKeyConstraint(
        ["project_id", "account_id"], ["members.project_id", "members.account_id"], ondelete="CASCADE"
    ),
)

# The memberships that exist because of groups at an identity provider.
given_memberships = sa.Table(
    "given_memberships",
    metadata,
    sa.Column("project_id", sa.Uuid, primary_key=True),
    sa.Column("account_id", sa.Uuid, primary_key=True),
    sa.Column("issuer", sa.Text, nullable=False),
    sa.ForeignKeyConstraint(
        ["project_id", "account_id"], ["members.project_id", "members.account_id"], ondelete="CASCADE"
    ),
)

# The invitations that have not been accepted. `token_hash` is the last mail's; none before the first.
invitations = sa.Table(
    "invitations",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
    sa.Column("email", sa.Text, nullable=False),
    sa.Column("email_identity", sa.Text, nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("environments", sa.JSON(none_as_null=True), nullable=False, server_default="{}"),
    sa.Column("inviter_id", sa.ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("token_hash", sa.LargeBinary, unique=True),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("expires_at", Moment, nullable=False),
    sa.Column("sent_at", Moment),
    sa.UniqueConstraint("project_id", "email_identity"),
)

# The mails with invitations of the last day, which are limited by account and by address.
invitation_mails = sa.Table(
    "invitation_mails",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("account_id", sa.ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False),
    sa.Column("email_identity", sa.Text, nullable=False),
    sa.Column("sent_at", Moment, nullable=False),
    sa.Index(None, "account_id", "sent_at"),
    sa.Index(None, "email_identity", "sent_at"),
)

# The keys with which applications ask for the flags of one environment.
sdk_keys = sa.Table(
    "sdk_keys",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("environment_id", sa.ForeignKey("environments.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("key_hash", sa.LargeBinary, nullable=False, unique=True),
    sa.Column("hint", sa.Text, nullable=False),
    sa.Column("creator_id", sa.ForeignKey("accounts.id", ondelete="SET NULL"), index=True),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("expires_at", Moment),
    sa.Column("last_used_at", Moment),
    sa.Column("replaces_id", sa.Uuid),  # of the key that it replaces, which may have been revoked since
    sa.Column("allowed_origins", sa.JSON(none_as_null=True), nullable=False, server_default="[]"),
)

# The responses to requests with an Idempotency-Key; `status` and `body` are filled in before the commit. `outcome` says
# why the response itself is not stored, if it is not; `checks` are the permissions that the request needed.
idempotency_keys = sa.Table(
    "idempotency_keys",
    metadata,
    sa.Column("account_id", sa.ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("created_at", Moment, nullable=False, index=True),
    sa.Column("fingerprint", sa.LargeBinary, nullable=False),
    sa.Column("project_id", sa.Uuid),
    sa.Column("environment_id", sa.Uuid),
    sa.Column("status", sa.SmallInteger),
    sa.Column("body", sa.LargeBinary),
    sa.Column("outcome", sa.Text),
    sa.Column("checks", sa.JSON(none_as_null=True)),
    sa.Index("idempotency_keys_project_id_outcome_index", "project_id", "outcome"),
)
