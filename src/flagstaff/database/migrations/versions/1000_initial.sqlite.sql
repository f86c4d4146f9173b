CREATE TABLE changes (
    id INTEGER NOT NULL,
    at BIGINT NOT NULL,
    actor_id CHAR(32),
    actor_email TEXT,
    action TEXT NOT NULL,
    resource_id CHAR(32) NOT NULL,
    project_id CHAR(32),
    environment_id CHAR(32),
    flag_id CHAR(32),
    "before" JSON,
    "after" JSON,
    flag_key TEXT,
    token_id CHAR(32),
    token_name TEXT,
    restores BIGINT,
    release JSON,
    batch JSON,
    CONSTRAINT changes_primary PRIMARY KEY (id)
);

CREATE INDEX changes_environment_id_id_index ON changes (environment_id, id);

CREATE INDEX changes_flag_id_id_index ON changes (flag_id, id);

CREATE INDEX changes_project_id_action_id_index ON changes (project_id, action, id);

CREATE INDEX changes_project_id_actor_id_id_index ON changes (project_id, actor_id, id);

CREATE INDEX changes_project_id_at_id_index ON changes (project_id, at, id);

CREATE INDEX changes_project_id_flag_key_id_index ON changes (project_id, flag_key, id);

CREATE INDEX changes_project_id_id_index ON changes (project_id, id);

CREATE INDEX changes_resource_id_id_index ON changes (resource_id, id);

CREATE TABLE instances (
    id TEXT NOT NULL,
    address TEXT NOT NULL,
    version TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    renewals BIGINT NOT NULL,
    is_leaving BOOLEAN NOT NULL,
    expires_at BIGINT NOT NULL,
    report TEXT,
    CONSTRAINT instances_primary PRIMARY KEY (id)
);

CREATE TABLE accounts (
    id CHAR(32) NOT NULL,
    email TEXT NOT NULL,
    email_identity TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    is_administrator BOOLEAN DEFAULT 0 NOT NULL,
    deactivated_at BIGINT,
    email_verified_at BIGINT,
    CONSTRAINT accounts_primary PRIMARY KEY (id),
    CONSTRAINT accounts_email_identity_unique UNIQUE (email_identity)
);

CREATE TABLE projects (
    id CHAR(32) NOT NULL,
    owner_id CHAR(32) NOT NULL,
    name TEXT NOT NULL,
    description TEXT,
    sdk_key TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    demands_second_factor BOOLEAN DEFAULT 0 NOT NULL,
    revision BIGINT DEFAULT '0' NOT NULL,
    shares_contents BOOLEAN DEFAULT 0 NOT NULL,
    history_retention_days INTEGER,
    CONSTRAINT projects_primary PRIMARY KEY (id),
    CONSTRAINT projects_sdk_key_unique UNIQUE (sdk_key),
    CONSTRAINT projects_owner_id_reference FOREIGN KEY(owner_id) REFERENCES accounts (id) ON DELETE CASCADE
);

CREATE INDEX projects_owner_id_index ON projects (owner_id);

CREATE TABLE environments (
    id CHAR(32) NOT NULL,
    project_id CHAR(32) NOT NULL,
    name TEXT NOT NULL,
    "key" TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    revision BIGINT DEFAULT '0' NOT NULL,
    critical BOOLEAN,
    position INTEGER DEFAULT '2147483647' NOT NULL,
    history_retention_days INTEGER,
    CONSTRAINT environments_primary PRIMARY KEY (id),
    CONSTRAINT environments_project_id_key_unique UNIQUE (project_id, "key"),
    CONSTRAINT environments_project_id_reference FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);

CREATE TABLE flags (
    id CHAR(32) NOT NULL,
    environment_id CHAR(32) NOT NULL,
    name TEXT NOT NULL,
    "key" TEXT NOT NULL,
    description TEXT,
    enabled BOOLEAN NOT NULL,
    rollout_percentage SMALLINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    fallthrough TEXT DEFAULT 'rollout' NOT NULL,
    bucketing_key TEXT,
    stickiness TEXT DEFAULT 'default' NOT NULL,
    tags JSON DEFAULT '[]' NOT NULL,
    variants JSON DEFAULT '[]' NOT NULL,
    prerequisites JSON DEFAULT '[]' NOT NULL,
    archived_at BIGINT,
    owner TEXT,
    keep BOOLEAN DEFAULT 0 NOT NULL,
    CONSTRAINT flags_primary PRIMARY KEY (id),
    CONSTRAINT flags_environment_id_key_unique UNIQUE (environment_id, "key"),
    CONSTRAINT flags_environment_id_reference FOREIGN KEY(environment_id) REFERENCES environments (id) ON DELETE CASCADE
);

CREATE INDEX flags_environment_id_created_at_id_index ON flags (environment_id, created_at, id);

CREATE TABLE releases (
    id CHAR(32) NOT NULL,
    project_id CHAR(32) NOT NULL,
    environment_id CHAR(32) NOT NULL,
    flag_id CHAR(32) NOT NULL,
    name TEXT,
    steps JSON DEFAULT '[]' NOT NULL,
    guards JSON DEFAULT '[]' NOT NULL,
    false_alarm_rate FLOAT NOT NULL,
    when_late TEXT NOT NULL,
    state TEXT NOT NULL,
    reason TEXT,
    author_id CHAR(32),
    author_email TEXT,
    applied JSON DEFAULT '[]' NOT NULL,
    alarms JSON DEFAULT '[]' NOT NULL,
    counts_from BIGINT,
    due_at BIGINT,
    paused_at BIGINT,
    ended_at BIGINT,
    mark BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    thresholds JSON DEFAULT '[]' NOT NULL,
    token_id CHAR(32),
    token_name TEXT,
    lost_authority BOOLEAN DEFAULT 0 NOT NULL,
    split_action TEXT DEFAULT 'pause' NOT NULL,
    unwatched_since BIGINT,
    counts TEXT DEFAULT 'all' NOT NULL,
    CONSTRAINT releases_primary PRIMARY KEY (id),
    CONSTRAINT releases_project_id_reference FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT releases_environment_id_reference FOREIGN KEY(environment_id) REFERENCES environments (id) ON DELETE CASCADE,
    CONSTRAINT releases_flag_id_reference FOREIGN KEY(flag_id) REFERENCES flags (id) ON DELETE CASCADE
);

CREATE INDEX releases_environment_id_index ON releases (environment_id);

CREATE INDEX releases_flag_id_created_at_index ON releases (flag_id, created_at);

CREATE INDEX releases_project_id_index ON releases (project_id);

CREATE INDEX releases_state_due_at_index ON releases (state, due_at);

CREATE TABLE comments (
    id CHAR(32) NOT NULL,
    project_id CHAR(32) NOT NULL,
    environment_id CHAR(32),
    flag_id CHAR(32),
    release_id CHAR(32),
    change BIGINT,
    author_id CHAR(32),
    author_email TEXT NOT NULL,
    text TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    CONSTRAINT comments_primary PRIMARY KEY (id),
    CONSTRAINT comments_project_id_reference FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT comments_flag_id_reference FOREIGN KEY(flag_id) REFERENCES flags (id) ON DELETE CASCADE,
    CONSTRAINT comments_release_id_reference FOREIGN KEY(release_id) REFERENCES releases (id) ON DELETE CASCADE,
    CONSTRAINT comments_author_id_reference FOREIGN KEY(author_id) REFERENCES accounts (id) ON DELETE SET NULL
);

CREATE INDEX comments_author_id_created_at_index ON comments (author_id, created_at);

CREATE INDEX comments_flag_id_created_at_index ON comments (flag_id, created_at);

CREATE INDEX comments_project_id_change_index ON comments (project_id, change);

CREATE INDEX comments_release_id_created_at_index ON comments (release_id, created_at);

CREATE TABLE rules (
    id CHAR(32) NOT NULL,
    flag_id CHAR(32) NOT NULL,
    rule_type TEXT NOT NULL,
    rule_value TEXT NOT NULL,
    priority INTEGER NOT NULL,
    enabled BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    name TEXT,
    conditions JSON DEFAULT '[]' NOT NULL,
    rollout_percentage SMALLINT DEFAULT '100' NOT NULL,
    variant TEXT,
    CONSTRAINT rules_primary PRIMARY KEY (id),
    CONSTRAINT rules_flag_id_reference FOREIGN KEY(flag_id) REFERENCES flags (id) ON DELETE CASCADE
);

CREATE INDEX rules_flag_id_index ON rules (flag_id);

CREATE TABLE project_segments (
    id CHAR(32) NOT NULL,
    project_id CHAR(32) NOT NULL,
    "key" TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT,
    conditions JSON DEFAULT '[]' NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    CONSTRAINT project_segments_primary PRIMARY KEY (id),
    CONSTRAINT project_segments_project_id_key_unique UNIQUE (project_id, "key"),
    CONSTRAINT project_segments_project_id_reference FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);

CREATE TABLE webhooks (
    id CHAR(32) NOT NULL,
    project_id CHAR(32),
    url TEXT NOT NULL,
    events JSON DEFAULT '[]' NOT NULL,
    environments JSON,
    tags JSON,
    format TEXT NOT NULL,
    description TEXT,
    enabled BOOLEAN NOT NULL,
    disabled_reason TEXT,
    secret BLOB NOT NULL,
    previous_secret BLOB,
    previous_secret_until BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    holder TEXT,
    held_until BIGINT,
    dropped BIGINT DEFAULT '0' NOT NULL,
    told_dropped BIGINT DEFAULT '0' NOT NULL,
    owner_id CHAR(32),
    CONSTRAINT webhooks_primary PRIMARY KEY (id),
    CONSTRAINT webhooks_project_id_reference FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);

CREATE INDEX webhooks_project_id_index ON webhooks (project_id);

CREATE TABLE webhook_deliveries (
    number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    webhook_id CHAR(32) NOT NULL,
    project_id CHAR(32),
    first_change BIGINT,
    last_change BIGINT,
    type TEXT,
    state TEXT NOT NULL,
    attempts SMALLINT DEFAULT '0' NOT NULL,
    created_at BIGINT NOT NULL,
    revision BIGINT,
    next_attempt_at BIGINT,
    notice BIGINT,
    CONSTRAINT webhook_deliveries_webhook_id_reference FOREIGN KEY(webhook_id) REFERENCES webhooks (id) ON DELETE CASCADE
);

CREATE INDEX webhook_deliveries_created_at_index ON webhook_deliveries (created_at);

CREATE INDEX webhook_deliveries_state_next_attempt_at_index ON webhook_deliveries (state, next_attempt_at);

CREATE INDEX webhook_deliveries_webhook_id_state_number_index ON webhook_deliveries (webhook_id, state, number);

CREATE TABLE webhook_attempts (
    id INTEGER NOT NULL,
    delivery INTEGER NOT NULL,
    at BIGINT NOT NULL,
    milliseconds INTEGER NOT NULL,
    status SMALLINT,
    error TEXT,
    answer TEXT,
    CONSTRAINT webhook_attempts_primary PRIMARY KEY (id),
    CONSTRAINT webhook_attempts_delivery_reference FOREIGN KEY(delivery) REFERENCES webhook_deliveries (number) ON DELETE CASCADE
);

CREATE INDEX webhook_attempts_delivery_index ON webhook_attempts (delivery);

CREATE TABLE notices (
    number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    type TEXT NOT NULL,
    project_id CHAR(32),
    environment_id CHAR(32),
    at BIGINT NOT NULL,
    details JSON NOT NULL,
    CONSTRAINT notices_project_id_reference FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT notices_environment_id_reference FOREIGN KEY(environment_id) REFERENCES environments (id) ON DELETE CASCADE
);

CREATE INDEX notices_at_index ON notices (at);

CREATE INDEX notices_environment_id_index ON notices (environment_id);

CREATE INDEX notices_project_id_index ON notices (project_id);

CREATE TABLE noticed_flags (
    environment_id CHAR(32) NOT NULL,
    type TEXT NOT NULL,
    flag_key TEXT NOT NULL,
    since BIGINT NOT NULL,
    CONSTRAINT noticed_flags_primary PRIMARY KEY (environment_id, type, flag_key),
    CONSTRAINT noticed_flags_environment_id_reference FOREIGN KEY(environment_id) REFERENCES environments (id) ON DELETE CASCADE
);

CREATE TABLE noticed_instances (
    type TEXT NOT NULL,
    name TEXT NOT NULL,
    since BIGINT NOT NULL,
    CONSTRAINT noticed_instances_primary PRIMARY KEY (type, name)
);

CREATE TABLE environment_looks (
    environment_id CHAR(32) NOT NULL,
    stale_at BIGINT,
    missing_at BIGINT,
    CONSTRAINT environment_looks_primary PRIMARY KEY (environment_id),
    CONSTRAINT environment_looks_environment_id_reference FOREIGN KEY(environment_id) REFERENCES environments (id) ON DELETE CASCADE
);

CREATE TABLE deleted_accounts (
    id CHAR(32) NOT NULL,
    sealed BLOB NOT NULL,
    examined BIGINT NOT NULL,
    until BIGINT NOT NULL,
    CONSTRAINT deleted_accounts_primary PRIMARY KEY (id)
);

CREATE TABLE instance_settings (
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    CONSTRAINT instance_settings_primary PRIMARY KEY (name)
);

CREATE TABLE password_resets (
    token_hash BLOB NOT NULL,
    account_id CHAR(32) NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    spent_at BIGINT,
    CONSTRAINT password_resets_primary PRIMARY KEY (token_hash),
    CONSTRAINT password_resets_account_id_reference FOREIGN KEY(account_id) REFERENCES accounts (id) ON DELETE CASCADE
);

CREATE INDEX password_resets_account_id_index ON password_resets (account_id);

CREATE TABLE sessions (
    id CHAR(32) NOT NULL,
    account_id CHAR(32) NOT NULL,
    device TEXT,
    address TEXT,
    created_at BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    CONSTRAINT sessions_primary PRIMARY KEY (id),
    CONSTRAINT sessions_account_id_reference FOREIGN KEY(account_id) REFERENCES accounts (id) ON DELETE CASCADE
);

CREATE INDEX sessions_account_id_index ON sessions (account_id);

CREATE INDEX sessions_expires_at_index ON sessions (expires_at);

CREATE TABLE known_clients (
    account_id CHAR(32) NOT NULL,
    client_hash BLOB NOT NULL,
    seen_at BIGINT NOT NULL,
    CONSTRAINT known_clients_primary PRIMARY KEY (account_id, client_hash),
    CONSTRAINT known_clients_account_id_reference FOREIGN KEY(account_id) REFERENCES accounts (id) ON DELETE CASCADE
);

CREATE TABLE totp_secrets (
    account_id CHAR(32) NOT NULL,
    sealed BLOB NOT NULL,
    created_at BIGINT NOT NULL,
    confirmed_at BIGINT,
    last_step BIGINT,
    CONSTRAINT totp_secrets_primary PRIMARY KEY (account_id),
    CONSTRAINT totp_secrets_account_id_reference FOREIGN KEY(account_id) REFERENCES accounts (id) ON DELETE CASCADE
);

CREATE TABLE recovery_codes (
    account_id CHAR(32) NOT NULL,
    code_hash BLOB NOT NULL,
    CONSTRAINT recovery_codes_primary PRIMARY KEY (account_id, code_hash),
    CONSTRAINT recovery_codes_account_id_reference FOREIGN KEY(account_id) REFERENCES accounts (id) ON DELETE CASCADE
);

CREATE TABLE second_factor_failures (
    id CHAR(32) NOT NULL,
    account_id CHAR(32) NOT NULL,
    at BIGINT NOT NULL,
    CONSTRAINT second_factor_failures_primary PRIMARY KEY (id),
    CONSTRAINT second_factor_failures_account_id_reference FOREIGN KEY(account_id) REFERENCES accounts (id) ON DELETE CASCADE
);

CREATE INDEX second_factor_failures_account_id_at_index ON second_factor_failures (account_id, at);

CREATE INDEX second_factor_failures_at_index ON second_factor_failures (at);

CREATE TABLE passkeys (
    id CHAR(32) NOT NULL,
    account_id CHAR(32) NOT NULL,
    credential_id BLOB NOT NULL,
    public_key BLOB NOT NULL,
    sign_count BIGINT NOT NULL,
    name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT,
    CONSTRAINT passkeys_primary PRIMARY KEY (id),
    CONSTRAINT passkeys_credential_id_unique UNIQUE (credential_id),
    CONSTRAINT passkeys_account_id_reference FOREIGN KEY(account_id) REFERENCES accounts (id) ON DELETE CASCADE
);

CREATE INDEX passkeys_account_id_index ON passkeys (account_id);

CREATE TABLE challenges (
    token_hash BLOB NOT NULL,
    purpose TEXT NOT NULL,
    account_id CHAR(32),
    stamp TEXT,
    expires_at BIGINT NOT NULL,
    CONSTRAINT challenges_primary PRIMARY KEY (token_hash),
    CONSTRAINT challenges_account_id_reference FOREIGN KEY(account_id) REFERENCES accounts (id) ON DELETE CASCADE
);

CREATE INDEX challenges_account_id_index ON challenges (account_id);

CREATE INDEX challenges_expires_at_index ON challenges (expires_at);

CREATE TABLE identities (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    account_id CHAR(32) NOT NULL,
    created_at BIGINT NOT NULL,
    is_only_way BOOLEAN NOT NULL,
    CONSTRAINT identities_primary PRIMARY KEY (issuer, subject),
    CONSTRAINT identities_account_id_reference FOREIGN KEY(account_id) REFERENCES accounts (id) ON DELETE CASCADE
);

CREATE INDEX identities_account_id_index ON identities (account_id);

CREATE TABLE sign_ins (
    state_hash BLOB NOT NULL,
    provider TEXT NOT NULL,
    nonce TEXT NOT NULL,
    verifier TEXT NOT NULL,
    binding_hash BLOB NOT NULL,
    return_to TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    CONSTRAINT sign_ins_primary PRIMARY KEY (state_hash)
);

CREATE INDEX sign_ins_expires_at_index ON sign_ins (expires_at);

CREATE TABLE access_tokens (
    id CHAR(32) NOT NULL,
    account_id CHAR(32) NOT NULL,
    project_id CHAR(32),
    name TEXT NOT NULL,
    token_hash BLOB NOT NULL,
    permissions JSON NOT NULL,
    environments JSON,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    last_used_at BIGINT,
    CONSTRAINT access_tokens_primary PRIMARY KEY (id),
    CONSTRAINT access_tokens_token_hash_unique UNIQUE (token_hash),
    CONSTRAINT access_tokens_account_id_reference FOREIGN KEY(account_id) REFERENCES accounts (id) ON DELETE CASCADE,
    CONSTRAINT access_tokens_project_id_reference FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);

CREATE INDEX access_tokens_account_id_index ON access_tokens (account_id);

CREATE INDEX access_tokens_project_id_index ON access_tokens (project_id);

CREATE TABLE metrics (
    id CHAR(32) NOT NULL,
    project_id CHAR(32) NOT NULL,
    "key" TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT,
    kind TEXT NOT NULL,
    better TEXT NOT NULL,
    unit TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    CONSTRAINT metrics_primary PRIMARY KEY (id),
    CONSTRAINT metrics_project_id_reference FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT metrics_project_id_key_unique UNIQUE (project_id, "key")
);

CREATE TABLE members (
    project_id CHAR(32) NOT NULL,
    account_id CHAR(32) NOT NULL,
    role TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT members_primary PRIMARY KEY (project_id, account_id),
    CONSTRAINT members_project_id_reference FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT members_account_id_reference FOREIGN KEY(account_id) REFERENCES accounts (id) ON DELETE CASCADE
);

CREATE INDEX members_account_id_index ON members (account_id);

CREATE TABLE notification_settings (
    project_id CHAR(32) NOT NULL,
    account_id CHAR(32) NOT NULL,
    critical BOOLEAN,
    owned BOOLEAN,
    stale BOOLEAN,
    webhooks BOOLEAN,
    releases BOOLEAN,
    mentions BOOLEAN,
    subscribed BOOLEAN,
    CONSTRAINT notification_settings_primary PRIMARY KEY (project_id, account_id),
    CONSTRAINT notification_settings_project_id_reference FOREIGN KEY(project_id, account_id) REFERENCES members (project_id, account_id) ON DELETE CASCADE
);

CREATE TABLE subscriptions (
    id CHAR(32) NOT NULL,
    project_id CHAR(32) NOT NULL,
    account_id CHAR(32) NOT NULL,
    kind TEXT NOT NULL,
    environment_id CHAR(32),
    name TEXT,
    created_at BIGINT NOT NULL,
    CONSTRAINT subscriptions_primary PRIMARY KEY (id),
    CONSTRAINT subscriptions_project_id_reference FOREIGN KEY(project_id, account_id) REFERENCES members (project_id, account_id) ON DELETE CASCADE,
    CONSTRAINT subscriptions_environment_id_reference FOREIGN KEY(environment_id) REFERENCES environments (id) ON DELETE CASCADE
);

CREATE INDEX subscriptions_account_id_project_id_index ON subscriptions (account_id, project_id);

CREATE INDEX subscriptions_environment_id_index ON subscriptions (environment_id);

CREATE INDEX subscriptions_project_id_kind_name_index ON subscriptions (project_id, kind, name);

CREATE TABLE notifications (
    id INTEGER NOT NULL,
    project_id CHAR(32) NOT NULL,
    account_id CHAR(32) NOT NULL,
    kind TEXT NOT NULL,
    change BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    held_until BIGINT,
    comment_id CHAR(32),
    CONSTRAINT notifications_primary PRIMARY KEY (id),
    CONSTRAINT notifications_project_id_reference FOREIGN KEY(project_id, account_id) REFERENCES members (project_id, account_id) ON DELETE CASCADE
);

CREATE INDEX notifications_account_id_project_id_id_index ON notifications (account_id, project_id, id);

CREATE INDEX notifications_project_id_account_id_index ON notifications (project_id, account_id);

CREATE TABLE notification_positions (
    project_id CHAR(32) NOT NULL,
    change BIGINT NOT NULL,
    CONSTRAINT notification_positions_primary PRIMARY KEY (project_id),
    CONSTRAINT notification_positions_project_id_reference FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);

CREATE TABLE notification_mails (
    id CHAR(32) NOT NULL,
    account_id CHAR(32) NOT NULL,
    sent_at BIGINT NOT NULL,
    CONSTRAINT notification_mails_primary PRIMARY KEY (id),
    CONSTRAINT notification_mails_account_id_reference FOREIGN KEY(account_id) REFERENCES accounts (id) ON DELETE CASCADE
);

CREATE INDEX notification_mails_account_id_sent_at_index ON notification_mails (account_id, sent_at);

CREATE INDEX notification_mails_sent_at_index ON notification_mails (sent_at);

CREATE TABLE stale_reminders (
    project_id CHAR(32) NOT NULL,
    account_id CHAR(32) NOT NULL,
    sent_at BIGINT NOT NULL,
    CONSTRAINT stale_reminders_primary PRIMARY KEY (project_id, account_id),
    CONSTRAINT stale_reminders_project_id_reference FOREIGN KEY(project_id, account_id) REFERENCES members (project_id, account_id) ON DELETE CASCADE
);

CREATE TABLE environment_roles (
    project_id CHAR(32) NOT NULL,
    account_id CHAR(32) NOT NULL,
    environment_id CHAR(32) NOT NULL,
    role TEXT NOT NULL,
    CONSTRAINT environment_roles_primary PRIMARY KEY (project_id, account_id, environment_id),
    CONSTRAINT environment_roles_project_id_reference FOREIGN KEY(project_id, account_id) REFERENCES members (project_id, account_id) ON DELETE CASCADE,
    CONSTRAINT environment_roles_environment_id_reference FOREIGN KEY(environment_id) REFERENCES environments (id) ON DELETE CASCADE
);

CREATE INDEX environment_roles_environment_id_index ON environment_roles (environment_id);

CREATE TABLE given_memberships (
    project_id CHAR(32) NOT NULL,
    account_id CHAR(32) NOT NULL,
    issuer TEXT NOT NULL,
    CONSTRAINT given_memberships_primary PRIMARY KEY (project_id, account_id),
    CONSTRAINT given_memberships_project_id_reference FOREIGN KEY(project_id, account_id) REFERENCES members (project_id, account_id) ON DELETE CASCADE
);

CREATE TABLE invitations (
    id CHAR(32) NOT NULL,
    project_id CHAR(32) NOT NULL,
    email TEXT NOT NULL,
    email_identity TEXT NOT NULL,
    role TEXT NOT NULL,
    environments JSON DEFAULT '{}' NOT NULL,
    inviter_id CHAR(32) NOT NULL,
    token_hash BLOB,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    sent_at BIGINT,
    CONSTRAINT invitations_primary PRIMARY KEY (id),
    CONSTRAINT invitations_token_hash_unique UNIQUE (token_hash),
    CONSTRAINT invitations_project_id_email_identity_unique UNIQUE (project_id, email_identity),
    CONSTRAINT invitations_project_id_reference FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT invitations_inviter_id_reference FOREIGN KEY(inviter_id) REFERENCES accounts (id) ON DELETE CASCADE
);

CREATE INDEX invitations_inviter_id_index ON invitations (inviter_id);

CREATE TABLE invitation_mails (
    id CHAR(32) NOT NULL,
    account_id CHAR(32) NOT NULL,
    email_identity TEXT NOT NULL,
    sent_at BIGINT NOT NULL,
    CONSTRAINT invitation_mails_primary PRIMARY KEY (id),
    CONSTRAINT invitation_mails_account_id_reference FOREIGN KEY(account_id) REFERENCES accounts (id) ON DELETE CASCADE
);

CREATE INDEX invitation_mails_account_id_sent_at_index ON invitation_mails (account_id, sent_at);

CREATE INDEX invitation_mails_email_identity_sent_at_index ON invitation_mails (email_identity, sent_at);

CREATE TABLE sdk_keys (
    id CHAR(32) NOT NULL,
    environment_id CHAR(32) NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    key_hash BLOB NOT NULL,
    hint TEXT NOT NULL,
    creator_id CHAR(32),
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    last_used_at BIGINT,
    replaces_id CHAR(32),
    allowed_origins JSON DEFAULT '[]' NOT NULL,
    CONSTRAINT sdk_keys_primary PRIMARY KEY (id),
    CONSTRAINT sdk_keys_key_hash_unique UNIQUE (key_hash),
    CONSTRAINT sdk_keys_environment_id_reference FOREIGN KEY(environment_id) REFERENCES environments (id) ON DELETE CASCADE,
    CONSTRAINT sdk_keys_creator_id_reference FOREIGN KEY(creator_id) REFERENCES accounts (id) ON DELETE SET NULL
);

CREATE INDEX sdk_keys_creator_id_index ON sdk_keys (creator_id);

CREATE INDEX sdk_keys_environment_id_index ON sdk_keys (environment_id);

CREATE TABLE idempotency_keys (
    account_id CHAR(32) NOT NULL,
    "key" TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    fingerprint BLOB NOT NULL,
    project_id CHAR(32),
    environment_id CHAR(32),
    status SMALLINT,
    body BLOB,
    outcome TEXT,
    checks JSON,
    CONSTRAINT idempotency_keys_primary PRIMARY KEY (account_id, "key"),
    CONSTRAINT idempotency_keys_account_id_reference FOREIGN KEY(account_id) REFERENCES accounts (id) ON DELETE CASCADE
);

CREATE INDEX idempotency_keys_created_at_index ON idempotency_keys (created_at);

CREATE INDEX idempotency_keys_project_id_outcome_index ON idempotency_keys (project_id, outcome);

CREATE TABLE saved_views (
    id CHAR(32) NOT NULL,
    project_id CHAR(32) NOT NULL,
    name TEXT NOT NULL,
    search JSON NOT NULL,
    creator_id CHAR(32),
    created_at BIGINT NOT NULL,
    CONSTRAINT saved_views_primary PRIMARY KEY (id),
    CONSTRAINT saved_views_project_id_name_unique UNIQUE (project_id, name),
    CONSTRAINT saved_views_project_id_reference FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT saved_views_creator_id_reference FOREIGN KEY(creator_id) REFERENCES accounts (id) ON DELETE SET NULL
);

CREATE INDEX saved_views_creator_id_index ON saved_views (creator_id);

CREATE TABLE pinned_charts (
    id CHAR(32) NOT NULL,
    project_id CHAR(32) NOT NULL,
    name TEXT NOT NULL,
    environment_id CHAR(32) NOT NULL,
    flag_id CHAR(32),
    period TEXT NOT NULL,
    split TEXT NOT NULL,
    scale TEXT NOT NULL,
    compare_before BOOLEAN NOT NULL,
    compare_environment_id CHAR(32),
    created_at BIGINT NOT NULL,
    CONSTRAINT pinned_charts_primary PRIMARY KEY (id),
    CONSTRAINT pinned_charts_project_id_reference FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT pinned_charts_environment_id_reference FOREIGN KEY(environment_id) REFERENCES environments (id) ON DELETE CASCADE,
    CONSTRAINT pinned_charts_flag_id_reference FOREIGN KEY(flag_id) REFERENCES flags (id) ON DELETE CASCADE,
    CONSTRAINT pinned_charts_compare_environment_id_reference FOREIGN KEY(compare_environment_id) REFERENCES environments (id) ON DELETE SET NULL
);

CREATE INDEX pinned_charts_compare_environment_id_index ON pinned_charts (compare_environment_id);

CREATE INDEX pinned_charts_environment_id_index ON pinned_charts (environment_id);

CREATE INDEX pinned_charts_flag_id_index ON pinned_charts (flag_id);

CREATE INDEX pinned_charts_project_id_index ON pinned_charts (project_id);

CREATE TABLE favourites (
    account_id CHAR(32) NOT NULL,
    project_id CHAR(32) NOT NULL,
    flag_key TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT favourites_primary PRIMARY KEY (account_id, project_id, flag_key),
    CONSTRAINT favourites_account_id_reference FOREIGN KEY(account_id) REFERENCES accounts (id) ON DELETE CASCADE,
    CONSTRAINT favourites_project_id_reference FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);

CREATE INDEX favourites_project_id_index ON favourites (project_id);

CREATE TABLE history.connections (
    environment_id CHAR(32) NOT NULL,
    application TEXT NOT NULL,
    identity TEXT NOT NULL,
    instance TEXT NOT NULL,
    sdk TEXT NOT NULL,
    interval_milliseconds BIGINT,
    revision BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    streams BOOLEAN NOT NULL,
    CONSTRAINT connections_primary PRIMARY KEY (environment_id, application, identity)
) WITHOUT ROWID;

CREATE INDEX history.connections_seen_at_index ON connections (seen_at);

CREATE TABLE history.callers (
    id BIGINT NOT NULL,
    environment_id CHAR(32) NOT NULL,
    key_id CHAR(32) NOT NULL,
    protocol TEXT NOT NULL,
    user_agent TEXT NOT NULL,
    network TEXT NOT NULL,
    first_at BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    slot INTEGER NOT NULL,
    in_slot BIGINT NOT NULL,
    before_slot BIGINT NOT NULL,
    CONSTRAINT callers_primary PRIMARY KEY (id)
) WITHOUT ROWID;

CREATE INDEX history.callers_environment_id_index ON callers (environment_id);

CREATE INDEX history.callers_last_at_index ON callers (last_at);

CREATE TABLE history.caller_hours (
    caller BIGINT NOT NULL,
    hour INTEGER NOT NULL,
    requests BIGINT NOT NULL,
    CONSTRAINT caller_hours_primary PRIMARY KEY (caller, hour)
) WITHOUT ROWID;

CREATE INDEX history.caller_hours_hour_index ON caller_hours (hour);

CREATE TABLE history.reported_counts (
    environment_id CHAR(32) NOT NULL,
    hour INTEGER NOT NULL,
    flag_key TEXT NOT NULL,
    application TEXT NOT NULL,
    sdk TEXT NOT NULL,
    result TEXT NOT NULL,
    count BIGINT NOT NULL,
    reported_at BIGINT NOT NULL,
    CONSTRAINT reported_counts_primary PRIMARY KEY (environment_id, hour, flag_key, application, sdk, result)
) WITHOUT ROWID;

CREATE TABLE history.reported_windows (
    window BLOB NOT NULL,
    reported_at BIGINT NOT NULL,
    CONSTRAINT reported_windows_primary PRIMARY KEY (window)
) WITHOUT ROWID;

CREATE INDEX history.reported_windows_reported_at_index ON reported_windows (reported_at);

CREATE TABLE history.dropped_reports (
    environment_id CHAR(32) NOT NULL,
    hour INTEGER NOT NULL,
    counts BIGINT NOT NULL,
    CONSTRAINT dropped_reports_primary PRIMARY KEY (environment_id, hour)
) WITHOUT ROWID;

CREATE TABLE history.request_series (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    environment_id CHAR(32) NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    labels TEXT NOT NULL,
    help TEXT NOT NULL,
    seen_at BIGINT NOT NULL,
    CONSTRAINT request_series_environment_id_name_kind_labels_unique UNIQUE (environment_id, name, kind, labels)
);

CREATE TABLE history.request_samples (
    series INTEGER NOT NULL,
    minute INTEGER NOT NULL,
    bound TEXT NOT NULL,
    amount FLOAT NOT NULL,
    times BIGINT NOT NULL,
    CONSTRAINT request_samples_primary PRIMARY KEY (series, minute, bound)
) WITHOUT ROWID;

CREATE INDEX history.request_samples_minute_index ON request_samples (minute);

CREATE TABLE history.recorded_environments (
    number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    environment_id CHAR(32) NOT NULL,
    kept_from INTEGER DEFAULT '0' NOT NULL,
    counted_segment BIGINT DEFAULT '0' NOT NULL,
    CONSTRAINT recorded_environments_environment_id_unique UNIQUE (environment_id)
);

CREATE TABLE history.layouts (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    environment INTEGER NOT NULL,
    digest BLOB NOT NULL,
    content BLOB NOT NULL,
    last_used_at BIGINT NOT NULL,
    version SMALLINT DEFAULT '1' NOT NULL,
    CONSTRAINT layouts_environment_digest_unique UNIQUE (environment, digest)
);

CREATE TABLE history.segments (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    environment INTEGER NOT NULL,
    layout_id INTEGER NOT NULL,
    first_time BIGINT NOT NULL,
    last_time BIGINT NOT NULL,
    size INTEGER NOT NULL,
    user_hashes BLOB NOT NULL,
    email_hashes BLOB NOT NULL,
    content BLOB NOT NULL,
    version SMALLINT DEFAULT '1' NOT NULL
);

CREATE INDEX history.segments_environment_id_index ON segments (environment, id);

CREATE INDEX history.segments_environment_last_time_id_index ON segments (environment, last_time, id);

CREATE TABLE history.batches (
    id BLOB NOT NULL,
    CONSTRAINT batches_primary PRIMARY KEY (id)
) WITHOUT ROWID;

CREATE TABLE history.deliveries (
    sink TEXT NOT NULL,
    holder TEXT NOT NULL,
    held_until BIGINT NOT NULL,
    token TEXT,
    ends TEXT,
    CONSTRAINT deliveries_primary PRIMARY KEY (sink)
) WITHOUT ROWID;

CREATE TABLE history.delivered (
    environment_id CHAR(32) NOT NULL,
    position TEXT NOT NULL,
    CONSTRAINT delivered_primary PRIMARY KEY (environment_id)
) WITHOUT ROWID;

CREATE TABLE history.delivered_events (
    environment_id CHAR(32) NOT NULL,
    segment BIGINT NOT NULL,
    CONSTRAINT delivered_events_primary PRIMARY KEY (environment_id)
) WITHOUT ROWID;

CREATE TABLE history.summaries (
    environment INTEGER NOT NULL,
    minute INTEGER NOT NULL,
    layout_id INTEGER NOT NULL,
    evaluations BIGINT NOT NULL,
    counts BLOB NOT NULL,
    version SMALLINT DEFAULT '1' NOT NULL,
    bytes BIGINT DEFAULT '0' NOT NULL,
    CONSTRAINT summaries_primary PRIMARY KEY (environment, minute, layout_id)
) WITHOUT ROWID;

CREATE TABLE history.flag_counts (
    environment INTEGER NOT NULL,
    span SMALLINT NOT NULL,
    start INTEGER NOT NULL,
    flag_key TEXT NOT NULL,
    version SMALLINT NOT NULL,
    counts BLOB NOT NULL,
    flag_id CHAR(32),
    others BLOB,
    CONSTRAINT flag_counts_primary PRIMARY KEY (environment, span, start, flag_key)
) WITHOUT ROWID;

CREATE TABLE history.environment_users (
    environment INTEGER NOT NULL,
    day INTEGER NOT NULL,
    version SMALLINT NOT NULL,
    users BLOB NOT NULL,
    flags BLOB NOT NULL,
    flag_ids BLOB,
    single_users BLOB,
    CONSTRAINT environment_users_primary PRIMARY KEY (environment, day)
) WITHOUT ROWID;

CREATE TABLE history.flag_users (
    environment INTEGER NOT NULL,
    day INTEGER NOT NULL,
    flag_key TEXT NOT NULL,
    version SMALLINT NOT NULL,
    on_users BLOB NOT NULL,
    off_users BLOB NOT NULL,
    flag_id CHAR(32),
    details BLOB,
    CONSTRAINT flag_users_primary PRIMARY KEY (environment, day, flag_key)
) WITHOUT ROWID;

CREATE TABLE history.recorded_bytes (
    environment INTEGER NOT NULL,
    hour INTEGER NOT NULL,
    bytes BIGINT NOT NULL,
    CONSTRAINT recorded_bytes_primary PRIMARY KEY (environment, hour)
) WITHOUT ROWID;

CREATE TABLE history.event_segments (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    environment INTEGER NOT NULL,
    number BIGINT NOT NULL,
    size INTEGER NOT NULL,
    last_at BIGINT NOT NULL,
    version SMALLINT DEFAULT '1' NOT NULL,
    content BLOB NOT NULL,
    key_kind TEXT,
    origins BLOB
);

CREATE INDEX history.event_segments_environment_id_index ON event_segments (environment, id);

CREATE INDEX history.event_segments_environment_last_at_index ON event_segments (environment, last_at);

CREATE TABLE history.event_ids (
    environment INTEGER NOT NULL,
    digest TEXT NOT NULL,
    day INTEGER NOT NULL,
    CONSTRAINT event_ids_primary PRIMARY KEY (environment, digest)
) WITHOUT ROWID;

CREATE INDEX history.event_ids_day_index ON event_ids (day);

CREATE TABLE history.unknown_metrics (
    environment_id CHAR(32) NOT NULL,
    metric TEXT NOT NULL,
    events BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    CONSTRAINT unknown_metrics_primary PRIMARY KEY (environment_id, metric)
) WITHOUT ROWID;

CREATE TABLE history.erasures (
    id CHAR(32) NOT NULL,
    project_id CHAR(32) NOT NULL,
    digests JSON NOT NULL,
    sealed BLOB,
    until BIGINT NOT NULL,
    requested_at BIGINT NOT NULL,
    finished_at BIGINT,
    stage TEXT NOT NULL,
    problem TEXT,
    evaluations BIGINT NOT NULL,
    events BIGINT NOT NULL,
    release_users BIGINT NOT NULL,
    holder TEXT NOT NULL,
    held_until BIGINT NOT NULL,
    changes BIGINT DEFAULT '0' NOT NULL,
    CONSTRAINT erasures_primary PRIMARY KEY (id)
) WITHOUT ROWID;

CREATE INDEX history.erasures_project_id_index ON erasures (project_id);

CREATE TABLE history.erased_users (
    environment INTEGER NOT NULL,
    digest BLOB NOT NULL,
    until BIGINT NOT NULL,
    CONSTRAINT erased_users_primary PRIMARY KEY (environment, digest)
) WITHOUT ROWID;

CREATE TABLE history.freed_pages (
    id INTEGER NOT NULL,
    zeros BLOB NOT NULL,
    CONSTRAINT freed_pages_primary PRIMARY KEY (id)
);

CREATE TABLE history.observed_releases (
    number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    release_id CHAR(32) NOT NULL,
    environment_id CHAR(32) NOT NULL,
    version BIGINT NOT NULL,
    holder TEXT NOT NULL,
    held_until BIGINT NOT NULL,
    content BLOB NOT NULL,
    CONSTRAINT observed_releases_release_id_unique UNIQUE (release_id)
);

CREATE TABLE history.exposures (
    release INTEGER NOT NULL,
    unit TEXT NOT NULL,
    first_step SMALLINT NOT NULL,
    step SMALLINT NOT NULL,
    arm SMALLINT NOT NULL,
    at BIGINT NOT NULL,
    CONSTRAINT exposures_primary PRIMARY KEY (release, unit)
) WITHOUT ROWID;

CREATE TABLE history.user_events (
    release INTEGER NOT NULL,
    metric SMALLINT NOT NULL,
    unit TEXT NOT NULL,
    step SMALLINT NOT NULL,
    arm SMALLINT NOT NULL,
    events INTEGER NOT NULL,
    total FLOAT NOT NULL,
    CONSTRAINT user_events_primary PRIMARY KEY (release, metric, unit)
) WITHOUT ROWID;

CREATE TABLE history.counted_releases (
    number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    release_id CHAR(32) NOT NULL,
    environment_id CHAR(32) NOT NULL,
    version BIGINT NOT NULL,
    holder TEXT NOT NULL,
    held_until BIGINT NOT NULL,
    content BLOB NOT NULL,
    CONSTRAINT counted_releases_release_id_unique UNIQUE (release_id)
);

CREATE TABLE history.step_exposures (
    release INTEGER NOT NULL,
    unit TEXT NOT NULL,
    step SMALLINT NOT NULL,
    arm SMALLINT NOT NULL,
    at BIGINT NOT NULL,
    CONSTRAINT step_exposures_primary PRIMARY KEY (release, unit, step)
) WITHOUT ROWID;

CREATE TABLE history.step_events (
    release INTEGER NOT NULL,
    metric SMALLINT NOT NULL,
    unit TEXT NOT NULL,
    step SMALLINT NOT NULL,
    events INTEGER NOT NULL,
    total FLOAT NOT NULL,
    limits SMALLINT NOT NULL,
    CONSTRAINT step_events_primary PRIMARY KEY (release, metric, unit, step)
) WITHOUT ROWID;
