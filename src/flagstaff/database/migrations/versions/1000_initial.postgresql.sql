CREATE SCHEMA history;

CREATE TABLE changes (
    id bigserial NOT NULL,
    at bigint NOT NULL,
    actor_id uuid,
    actor_email text,
    action text NOT NULL,
    resource_id uuid NOT NULL,
    project_id uuid,
    environment_id uuid,
    flag_id uuid,
    before json,
    after json,
    flag_key text,
    token_id uuid,
    token_name text,
    restores bigint,
    release json,
    batch json,
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
    id text NOT NULL,
    address text NOT NULL,
    version text NOT NULL,
    started_at bigint NOT NULL,
    renewals bigint NOT NULL,
    is_leaving boolean NOT NULL,
    expires_at bigint NOT NULL,
    report text,
    CONSTRAINT instances_primary PRIMARY KEY (id)
);

CREATE TABLE accounts (
    id uuid NOT NULL,
    email text NOT NULL,
    email_identity text NOT NULL,
    password_hash text NOT NULL,
    created_at bigint NOT NULL,
    is_administrator boolean DEFAULT false NOT NULL,
    deactivated_at bigint,
    email_verified_at bigint,
    CONSTRAINT accounts_primary PRIMARY KEY (id),
    CONSTRAINT accounts_email_identity_unique UNIQUE (email_identity)
);

CREATE TABLE projects (
    id uuid NOT NULL,
    owner_id uuid NOT NULL,
    name text NOT NULL,
    description text,
    sdk_key text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    demands_second_factor boolean DEFAULT false NOT NULL,
    revision bigint DEFAULT '0'::bigint NOT NULL,
    shares_contents boolean DEFAULT false NOT NULL,
    history_retention_days integer,
    CONSTRAINT projects_primary PRIMARY KEY (id),
    CONSTRAINT projects_sdk_key_unique UNIQUE (sdk_key),
    CONSTRAINT projects_owner_id_reference FOREIGN KEY (owner_id) REFERENCES accounts(id) ON DELETE CASCADE
);

CREATE INDEX projects_owner_id_index ON projects (owner_id);

CREATE TABLE environments (
    id uuid NOT NULL,
    project_id uuid NOT NULL,
    name text NOT NULL,
    key text NOT NULL,
    created_at bigint NOT NULL,
    revision bigint DEFAULT '0'::bigint NOT NULL,
    critical boolean,
    "position" integer DEFAULT 2147483647 NOT NULL,
    history_retention_days integer,
    CONSTRAINT environments_primary PRIMARY KEY (id),
    CONSTRAINT environments_project_id_key_unique UNIQUE (project_id, key),
    CONSTRAINT environments_project_id_reference FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
);

CREATE TABLE flags (
    id uuid NOT NULL,
    environment_id uuid NOT NULL,
    name text NOT NULL,
    key text NOT NULL,
    description text,
    enabled boolean NOT NULL,
    rollout_percentage smallint NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    fallthrough text DEFAULT 'rollout'::text NOT NULL,
    bucketing_key text,
    stickiness text DEFAULT 'default'::text NOT NULL,
    tags json DEFAULT '[]'::json NOT NULL,
    variants json DEFAULT '[]'::json NOT NULL,
    prerequisites json DEFAULT '[]'::json NOT NULL,
    archived_at bigint,
    owner text,
    keep boolean DEFAULT false NOT NULL,
    CONSTRAINT flags_primary PRIMARY KEY (id),
    CONSTRAINT flags_environment_id_key_unique UNIQUE (environment_id, key),
    CONSTRAINT flags_environment_id_reference FOREIGN KEY (environment_id) REFERENCES environments(id) ON DELETE CASCADE
);

CREATE INDEX flags_environment_id_created_at_id_index ON flags (environment_id, created_at, id);

CREATE TABLE releases (
    id uuid NOT NULL,
    project_id uuid NOT NULL,
    environment_id uuid NOT NULL,
    flag_id uuid NOT NULL,
    name text,
    steps json DEFAULT '[]'::json NOT NULL,
    guards json DEFAULT '[]'::json NOT NULL,
    false_alarm_rate double precision NOT NULL,
    when_late text NOT NULL,
    state text NOT NULL,
    reason text,
    author_id uuid,
    author_email text,
    applied json DEFAULT '[]'::json NOT NULL,
    alarms json DEFAULT '[]'::json NOT NULL,
    counts_from bigint,
    due_at bigint,
    paused_at bigint,
    ended_at bigint,
    mark bigint NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    thresholds json DEFAULT '[]'::json NOT NULL,
    token_id uuid,
    token_name text,
    lost_authority boolean DEFAULT false NOT NULL,
    split_action text DEFAULT 'pause'::text NOT NULL,
    unwatched_since bigint,
    counts text DEFAULT 'all'::text NOT NULL,
    CONSTRAINT releases_primary PRIMARY KEY (id),
    CONSTRAINT releases_environment_id_reference FOREIGN KEY (environment_id) REFERENCES environments(id) ON DELETE CASCADE,
    CONSTRAINT releases_flag_id_reference FOREIGN KEY (flag_id) REFERENCES flags(id) ON DELETE CASCADE,
    CONSTRAINT releases_project_id_reference FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
);

CREATE INDEX releases_environment_id_index ON releases (environment_id);

CREATE INDEX releases_flag_id_created_at_index ON releases (flag_id, created_at);

CREATE INDEX releases_project_id_index ON releases (project_id);

CREATE INDEX releases_state_due_at_index ON releases (state, due_at);

CREATE TABLE comments (
    id uuid NOT NULL,
    project_id uuid NOT NULL,
    environment_id uuid,
    flag_id uuid,
    release_id uuid,
    change bigint,
    author_id uuid,
    author_email text NOT NULL,
    text text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    CONSTRAINT comments_primary PRIMARY KEY (id),
    CONSTRAINT comments_author_id_reference FOREIGN KEY (author_id) REFERENCES accounts(id) ON DELETE SET NULL,
    CONSTRAINT comments_flag_id_reference FOREIGN KEY (flag_id) REFERENCES flags(id) ON DELETE CASCADE,
    CONSTRAINT comments_project_id_reference FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE,
    CONSTRAINT comments_release_id_reference FOREIGN KEY (release_id) REFERENCES releases(id) ON DELETE CASCADE
);

CREATE INDEX comments_author_id_created_at_index ON comments (author_id, created_at);

CREATE INDEX comments_flag_id_created_at_index ON comments (flag_id, created_at);

CREATE INDEX comments_project_id_change_index ON comments (project_id, change);

CREATE INDEX comments_release_id_created_at_index ON comments (release_id, created_at);

CREATE TABLE rules (
    id uuid NOT NULL,
    flag_id uuid NOT NULL,
    rule_type text NOT NULL,
    rule_value text NOT NULL,
    priority integer NOT NULL,
    enabled boolean NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    name text,
    conditions json DEFAULT '[]'::json NOT NULL,
    rollout_percentage smallint DEFAULT '100'::smallint NOT NULL,
    variant text,
    CONSTRAINT rules_primary PRIMARY KEY (id),
    CONSTRAINT rules_flag_id_reference FOREIGN KEY (flag_id) REFERENCES flags(id) ON DELETE CASCADE
);

CREATE INDEX rules_flag_id_index ON rules (flag_id);

CREATE TABLE project_segments (
    id uuid NOT NULL,
    project_id uuid NOT NULL,
    key text NOT NULL,
    name text NOT NULL,
    description text,
    conditions json DEFAULT '[]'::json NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    CONSTRAINT project_segments_primary PRIMARY KEY (id),
    CONSTRAINT project_segments_project_id_key_unique UNIQUE (project_id, key),
    CONSTRAINT project_segments_project_id_reference FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
);

CREATE TABLE webhooks (
    id uuid NOT NULL,
    project_id uuid,
    url text NOT NULL,
    events json DEFAULT '[]'::json NOT NULL,
    environments json,
    tags json,
    format text NOT NULL,
    description text,
    enabled boolean NOT NULL,
    disabled_reason text,
    secret bytea NOT NULL,
    previous_secret bytea,
    previous_secret_until bigint,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    holder text,
    held_until bigint,
    dropped bigint DEFAULT '0'::bigint NOT NULL,
    told_dropped bigint DEFAULT '0'::bigint NOT NULL,
    owner_id uuid,
    CONSTRAINT webhooks_primary PRIMARY KEY (id),
    CONSTRAINT webhooks_project_id_reference FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
);

CREATE INDEX webhooks_project_id_index ON webhooks (project_id);

CREATE TABLE webhook_deliveries (
    number bigserial NOT NULL,
    webhook_id uuid NOT NULL,
    project_id uuid,
    first_change bigint,
    last_change bigint,
    type text,
    state text NOT NULL,
    attempts smallint DEFAULT '0'::smallint NOT NULL,
    created_at bigint NOT NULL,
    revision bigint,
    next_attempt_at bigint,
    notice bigint,
    CONSTRAINT webhook_deliveries_primary PRIMARY KEY (number),
    CONSTRAINT webhook_deliveries_webhook_id_reference FOREIGN KEY (webhook_id) REFERENCES webhooks(id) ON DELETE CASCADE
);

CREATE INDEX webhook_deliveries_created_at_index ON webhook_deliveries (created_at);

CREATE INDEX webhook_deliveries_state_next_attempt_at_index ON webhook_deliveries (state, next_attempt_at);

CREATE INDEX webhook_deliveries_webhook_id_state_number_index ON webhook_deliveries (webhook_id, state, number);

CREATE TABLE webhook_attempts (
    id bigserial NOT NULL,
    delivery bigint NOT NULL,
    at bigint NOT NULL,
    milliseconds integer NOT NULL,
    status smallint,
    error text,
    answer text,
    CONSTRAINT webhook_attempts_primary PRIMARY KEY (id),
    CONSTRAINT webhook_attempts_delivery_reference FOREIGN KEY (delivery) REFERENCES webhook_deliveries(number) ON DELETE CASCADE
);

CREATE INDEX webhook_attempts_delivery_index ON webhook_attempts (delivery);

CREATE TABLE notices (
    number bigserial NOT NULL,
    type text NOT NULL,
    project_id uuid,
    environment_id uuid,
    at bigint NOT NULL,
    details json NOT NULL,
    CONSTRAINT notices_primary PRIMARY KEY (number),
    CONSTRAINT notices_environment_id_reference FOREIGN KEY (environment_id) REFERENCES environments(id) ON DELETE CASCADE,
    CONSTRAINT notices_project_id_reference FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
);

CREATE INDEX notices_at_index ON notices (at);

CREATE INDEX notices_environment_id_index ON notices (environment_id);

CREATE INDEX notices_project_id_index ON notices (project_id);

CREATE TABLE noticed_flags (
    environment_id uuid NOT NULL,
    type text NOT NULL,
    flag_key text NOT NULL,
    since bigint NOT NULL,
    CONSTRAINT noticed_flags_primary PRIMARY KEY (environment_id, type, flag_key),
    CONSTRAINT noticed_flags_environment_id_reference FOREIGN KEY (environment_id) REFERENCES environments(id) ON DELETE CASCADE
);

CREATE TABLE noticed_instances (
    type text NOT NULL,
    name text NOT NULL,
    since bigint NOT NULL,
    CONSTRAINT noticed_instances_primary PRIMARY KEY (type, name)
);

CREATE TABLE environment_looks (
    environment_id uuid NOT NULL,
    stale_at bigint,
    missing_at bigint,
    CONSTRAINT environment_looks_primary PRIMARY KEY (environment_id),
    CONSTRAINT environment_looks_environment_id_reference FOREIGN KEY (environment_id) REFERENCES environments(id) ON DELETE CASCADE
);

CREATE TABLE deleted_accounts (
    id uuid NOT NULL,
    sealed bytea NOT NULL,
    examined bigint NOT NULL,
    until bigint NOT NULL,
    CONSTRAINT deleted_accounts_primary PRIMARY KEY (id)
);

CREATE TABLE instance_settings (
    name text NOT NULL,
    value text NOT NULL,
    CONSTRAINT instance_settings_primary PRIMARY KEY (name)
);

CREATE TABLE password_resets (
    token_hash bytea NOT NULL,
    account_id uuid NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    spent_at bigint,
    CONSTRAINT password_resets_primary PRIMARY KEY (token_hash),
    CONSTRAINT password_resets_account_id_reference FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);

CREATE INDEX password_resets_account_id_index ON password_resets (account_id);

CREATE TABLE sessions (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    device text,
    address text,
    created_at bigint NOT NULL,
    last_seen_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    CONSTRAINT sessions_primary PRIMARY KEY (id),
    CONSTRAINT sessions_account_id_reference FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);

CREATE INDEX sessions_account_id_index ON sessions (account_id);

CREATE INDEX sessions_expires_at_index ON sessions (expires_at);

CREATE TABLE known_clients (
    account_id uuid NOT NULL,
    client_hash bytea NOT NULL,
    seen_at bigint NOT NULL,
    CONSTRAINT known_clients_primary PRIMARY KEY (account_id, client_hash),
    CONSTRAINT known_clients_account_id_reference FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);

CREATE TABLE totp_secrets (
    account_id uuid NOT NULL,
    sealed bytea NOT NULL,
    created_at bigint NOT NULL,
    confirmed_at bigint,
    last_step bigint,
    CONSTRAINT totp_secrets_primary PRIMARY KEY (account_id),
    CONSTRAINT totp_secrets_account_id_reference FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);

CREATE TABLE recovery_codes (
    account_id uuid NOT NULL,
    code_hash bytea NOT NULL,
    CONSTRAINT recovery_codes_primary PRIMARY KEY (account_id, code_hash),
    CONSTRAINT recovery_codes_account_id_reference FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);

CREATE TABLE second_factor_failures (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    at bigint NOT NULL,
    CONSTRAINT second_factor_failures_primary PRIMARY KEY (id),
    CONSTRAINT second_factor_failures_account_id_reference FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);

CREATE INDEX second_factor_failures_account_id_at_index ON second_factor_failures (account_id, at);

CREATE INDEX second_factor_failures_at_index ON second_factor_failures (at);

CREATE TABLE passkeys (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    credential_id bytea NOT NULL,
    public_key bytea NOT NULL,
    sign_count bigint NOT NULL,
    name text NOT NULL,
    created_at bigint NOT NULL,
    last_used_at bigint,
    CONSTRAINT passkeys_primary PRIMARY KEY (id),
    CONSTRAINT passkeys_credential_id_unique UNIQUE (credential_id),
    CONSTRAINT passkeys_account_id_reference FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);

CREATE INDEX passkeys_account_id_index ON passkeys (account_id);

CREATE TABLE challenges (
    token_hash bytea NOT NULL,
    purpose text NOT NULL,
    account_id uuid,
    stamp text,
    expires_at bigint NOT NULL,
    CONSTRAINT challenges_primary PRIMARY KEY (token_hash),
    CONSTRAINT challenges_account_id_reference FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);

CREATE INDEX challenges_account_id_index ON challenges (account_id);

CREATE INDEX challenges_expires_at_index ON challenges (expires_at);

CREATE TABLE identities (
    issuer text NOT NULL,
    subject text NOT NULL,
    account_id uuid NOT NULL,
    created_at bigint NOT NULL,
    is_only_way boolean NOT NULL,
    CONSTRAINT identities_primary PRIMARY KEY (issuer, subject),
    CONSTRAINT identities_account_id_reference FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);

CREATE INDEX identities_account_id_index ON identities (account_id);

CREATE TABLE sign_ins (
    state_hash bytea NOT NULL,
    provider text NOT NULL,
    nonce text NOT NULL,
    verifier text NOT NULL,
    binding_hash bytea NOT NULL,
    return_to text NOT NULL,
    expires_at bigint NOT NULL,
    CONSTRAINT sign_ins_primary PRIMARY KEY (state_hash)
);

CREATE INDEX sign_ins_expires_at_index ON sign_ins (expires_at);

CREATE TABLE access_tokens (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    project_id uuid,
    name text NOT NULL,
    token_hash bytea NOT NULL,
    permissions json NOT NULL,
    environments json,
    created_at bigint NOT NULL,
    expires_at bigint,
    last_used_at bigint,
    CONSTRAINT access_tokens_primary PRIMARY KEY (id),
    CONSTRAINT access_tokens_token_hash_unique UNIQUE (token_hash),
    CONSTRAINT access_tokens_account_id_reference FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE,
    CONSTRAINT access_tokens_project_id_reference FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
);

CREATE INDEX access_tokens_account_id_index ON access_tokens (account_id);

CREATE INDEX access_tokens_project_id_index ON access_tokens (project_id);

CREATE TABLE metrics (
    id uuid NOT NULL,
    project_id uuid NOT NULL,
    key text NOT NULL,
    name text NOT NULL,
    description text,
    kind text NOT NULL,
    better text NOT NULL,
    unit text,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    CONSTRAINT metrics_primary PRIMARY KEY (id),
    CONSTRAINT metrics_project_id_key_unique UNIQUE (project_id, key),
    CONSTRAINT metrics_project_id_reference FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
);

CREATE TABLE members (
    project_id uuid NOT NULL,
    account_id uuid NOT NULL,
    role text NOT NULL,
    created_at bigint NOT NULL,
    CONSTRAINT members_primary PRIMARY KEY (project_id, account_id),
    CONSTRAINT members_account_id_reference FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE,
    CONSTRAINT members_project_id_reference FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
);

CREATE INDEX members_account_id_index ON members (account_id);

CREATE TABLE notification_settings (
    project_id uuid NOT NULL,
    account_id uuid NOT NULL,
    critical boolean,
    owned boolean,
    stale boolean,
    webhooks boolean,
    releases boolean,
    mentions boolean,
    subscribed boolean,
    CONSTRAINT notification_settings_primary PRIMARY KEY (project_id, account_id),
    CONSTRAINT notification_settings_project_id_reference FOREIGN KEY (project_id, account_id) REFERENCES members(project_id, account_id) ON DELETE CASCADE
);

CREATE TABLE subscriptions (
    id uuid NOT NULL,
    project_id uuid NOT NULL,
    account_id uuid NOT NULL,
    kind text NOT NULL,
    environment_id uuid,
    name text,
    created_at bigint NOT NULL,
    CONSTRAINT subscriptions_primary PRIMARY KEY (id),
    CONSTRAINT subscriptions_environment_id_reference FOREIGN KEY (environment_id) REFERENCES environments(id) ON DELETE CASCADE,
    CONSTRAINT subscriptions_project_id_reference FOREIGN KEY (project_id, account_id) REFERENCES members(project_id, account_id) ON DELETE CASCADE
);

CREATE INDEX subscriptions_account_id_project_id_index ON subscriptions (account_id, project_id);

CREATE INDEX subscriptions_environment_id_index ON subscriptions (environment_id);

CREATE INDEX subscriptions_project_id_kind_name_index ON subscriptions (project_id, kind, name);

CREATE TABLE notifications (
    id bigserial NOT NULL,
    project_id uuid NOT NULL,
    account_id uuid NOT NULL,
    kind text NOT NULL,
    change bigint NOT NULL,
    created_at bigint NOT NULL,
    held_until bigint,
    comment_id uuid,
    CONSTRAINT notifications_primary PRIMARY KEY (id),
    CONSTRAINT notifications_project_id_reference FOREIGN KEY (project_id, account_id) REFERENCES members(project_id, account_id) ON DELETE CASCADE
);

CREATE INDEX notifications_account_id_project_id_id_index ON notifications (account_id, project_id, id);

CREATE INDEX notifications_project_id_account_id_index ON notifications (project_id, account_id);

CREATE TABLE notification_positions (
    project_id uuid NOT NULL,
    change bigint NOT NULL,
    CONSTRAINT notification_positions_primary PRIMARY KEY (project_id),
    CONSTRAINT notification_positions_project_id_reference FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
);

CREATE TABLE notification_mails (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    sent_at bigint NOT NULL,
    CONSTRAINT notification_mails_primary PRIMARY KEY (id),
    CONSTRAINT notification_mails_account_id_reference FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);

CREATE INDEX notification_mails_account_id_sent_at_index ON notification_mails (account_id, sent_at);

CREATE INDEX notification_mails_sent_at_index ON notification_mails (sent_at);

CREATE TABLE stale_reminders (
    project_id uuid NOT NULL,
    account_id uuid NOT NULL,
    sent_at bigint NOT NULL,
    CONSTRAINT stale_reminders_primary PRIMARY KEY (project_id, account_id),
    CONSTRAINT stale_reminders_project_id_reference FOREIGN KEY (project_id, account_id) REFERENCES members(project_id, account_id) ON DELETE CASCADE
);

CREATE TABLE environment_roles (
    project_id uuid NOT NULL,
    account_id uuid NOT NULL,
    environment_id uuid NOT NULL,
    role text NOT NULL,
    CONSTRAINT environment_roles_primary PRIMARY KEY (project_id, account_id, environment_id),
    CONSTRAINT environment_roles_environment_id_reference FOREIGN KEY (environment_id) REFERENCES environments(id) ON DELETE CASCADE,
    CONSTRAINT environment_roles_project_id_reference FOREIGN KEY (project_id, account_id) REFERENCES members(project_id, account_id) ON DELETE CASCADE
);

CREATE INDEX environment_roles_environment_id_index ON environment_roles (environment_id);

CREATE TABLE given_memberships (
    project_id uuid NOT NULL,
    account_id uuid NOT NULL,
    issuer text NOT NULL,
    CONSTRAINT given_memberships_primary PRIMARY KEY (project_id, account_id),
    CONSTRAINT given_memberships_project_id_reference FOREIGN KEY (project_id, account_id) REFERENCES members(project_id, account_id) ON DELETE CASCADE
);

CREATE TABLE invitations (
    id uuid NOT NULL,
    project_id uuid NOT NULL,
    email text NOT NULL,
    email_identity text NOT NULL,
    role text NOT NULL,
    environments json DEFAULT '{}'::json NOT NULL,
    inviter_id uuid NOT NULL,
    token_hash bytea,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    sent_at bigint,
    CONSTRAINT invitations_primary PRIMARY KEY (id),
    CONSTRAINT invitations_project_id_email_identity_unique UNIQUE (project_id, email_identity),
    CONSTRAINT invitations_token_hash_unique UNIQUE (token_hash),
    CONSTRAINT invitations_inviter_id_reference FOREIGN KEY (inviter_id) REFERENCES accounts(id) ON DELETE CASCADE,
    CONSTRAINT invitations_project_id_reference FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
);

CREATE INDEX invitations_inviter_id_index ON invitations (inviter_id);

CREATE TABLE invitation_mails (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    email_identity text NOT NULL,
    sent_at bigint NOT NULL,
    CONSTRAINT invitation_mails_primary PRIMARY KEY (id),
    CONSTRAINT invitation_mails_account_id_reference FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);

CREATE INDEX invitation_mails_account_id_sent_at_index ON invitation_mails (account_id, sent_at);

CREATE INDEX invitation_mails_email_identity_sent_at_index ON invitation_mails (email_identity, sent_at);

CREATE TABLE sdk_keys (
    id uuid NOT NULL,
    environment_id uuid NOT NULL,
    name text NOT NULL,
    kind text NOT NULL,
    key_hash bytea NOT NULL,
    hint text NOT NULL,
    creator_id uuid,
    created_at bigint NOT NULL,
    expires_at bigint,
    last_used_at bigint,
    replaces_id uuid,
    allowed_origins json DEFAULT '[]'::json NOT NULL,
    CONSTRAINT sdk_keys_primary PRIMARY KEY (id),
    CONSTRAINT sdk_keys_key_hash_unique UNIQUE (key_hash),
    CONSTRAINT sdk_keys_creator_id_reference FOREIGN KEY (creator_id) REFERENCES accounts(id) ON DELETE SET NULL,
    CONSTRAINT sdk_keys_environment_id_reference FOREIGN KEY (environment_id) REFERENCES environments(id) ON DELETE CASCADE
);

CREATE INDEX sdk_keys_creator_id_index ON sdk_keys (creator_id);

CREATE INDEX sdk_keys_environment_id_index ON sdk_keys (environment_id);

CREATE TABLE idempotency_keys (
    account_id uuid NOT NULL,
    key text NOT NULL,
    created_at bigint NOT NULL,
    fingerprint bytea NOT NULL,
    project_id uuid,
    environment_id uuid,
    status smallint,
    body bytea,
    outcome text,
    checks json,
    CONSTRAINT idempotency_keys_primary PRIMARY KEY (account_id, key),
    CONSTRAINT idempotency_keys_account_id_reference FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
);

CREATE INDEX idempotency_keys_created_at_index ON idempotency_keys (created_at);

CREATE INDEX idempotency_keys_project_id_outcome_index ON idempotency_keys (project_id, outcome);

CREATE TABLE saved_views (
    id uuid NOT NULL,
    project_id uuid NOT NULL,
    name text NOT NULL,
    search json NOT NULL,
    creator_id uuid,
    created_at bigint NOT NULL,
    CONSTRAINT saved_views_primary PRIMARY KEY (id),
    CONSTRAINT saved_views_project_id_name_unique UNIQUE (project_id, name),
    CONSTRAINT saved_views_creator_id_reference FOREIGN KEY (creator_id) REFERENCES accounts(id) ON DELETE SET NULL,
    CONSTRAINT saved_views_project_id_reference FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
);

CREATE INDEX saved_views_creator_id_index ON saved_views (creator_id);

CREATE TABLE pinned_charts (
    id uuid NOT NULL,
    project_id uuid NOT NULL,
    name text NOT NULL,
    environment_id uuid NOT NULL,
    flag_id uuid,
    period text NOT NULL,
    split text NOT NULL,
    scale text NOT NULL,
    compare_before boolean NOT NULL,
    compare_environment_id uuid,
    created_at bigint NOT NULL,
    CONSTRAINT pinned_charts_primary PRIMARY KEY (id),
    CONSTRAINT pinned_charts_compare_environment_id_reference FOREIGN KEY (compare_environment_id) REFERENCES environments(id) ON DELETE SET NULL,
    CONSTRAINT pinned_charts_environment_id_reference FOREIGN KEY (environment_id) REFERENCES environments(id) ON DELETE CASCADE,
    CONSTRAINT pinned_charts_flag_id_reference FOREIGN KEY (flag_id) REFERENCES flags(id) ON DELETE CASCADE,
    CONSTRAINT pinned_charts_project_id_reference FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
);

CREATE INDEX pinned_charts_compare_environment_id_index ON pinned_charts (compare_environment_id);

CREATE INDEX pinned_charts_environment_id_index ON pinned_charts (environment_id);

CREATE INDEX pinned_charts_flag_id_index ON pinned_charts (flag_id);

CREATE INDEX pinned_charts_project_id_index ON pinned_charts (project_id);

CREATE TABLE favourites (
    account_id uuid NOT NULL,
    project_id uuid NOT NULL,
    flag_key text NOT NULL,
    created_at bigint NOT NULL,
    CONSTRAINT favourites_primary PRIMARY KEY (account_id, project_id, flag_key),
    CONSTRAINT favourites_account_id_reference FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE,
    CONSTRAINT favourites_project_id_reference FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
);

CREATE INDEX favourites_project_id_index ON favourites (project_id);

CREATE TABLE history.connections (
    environment_id uuid NOT NULL,
    application text NOT NULL,
    identity text NOT NULL,
    instance text NOT NULL,
    sdk text NOT NULL,
    interval_milliseconds bigint,
    revision bigint NOT NULL,
    seen_at bigint NOT NULL,
    streams boolean NOT NULL,
    CONSTRAINT connections_primary PRIMARY KEY (environment_id, application, identity)
);

CREATE INDEX connections_seen_at_index ON history.connections (seen_at);

CREATE TABLE history.callers (
    id bigint NOT NULL,
    environment_id uuid NOT NULL,
    key_id uuid NOT NULL,
    protocol text NOT NULL,
    user_agent text NOT NULL,
    network text NOT NULL,
    first_at bigint NOT NULL,
    last_at bigint NOT NULL,
    slot integer NOT NULL,
    in_slot bigint NOT NULL,
    before_slot bigint NOT NULL,
    CONSTRAINT callers_primary PRIMARY KEY (id)
);

CREATE INDEX callers_environment_id_index ON history.callers (environment_id);

CREATE INDEX callers_last_at_index ON history.callers (last_at);

CREATE TABLE history.caller_hours (
    caller bigint NOT NULL,
    hour integer NOT NULL,
    requests bigint NOT NULL,
    CONSTRAINT caller_hours_primary PRIMARY KEY (caller, hour)
);

CREATE INDEX caller_hours_hour_index ON history.caller_hours (hour);

CREATE TABLE history.reported_counts (
    environment_id uuid NOT NULL,
    hour integer NOT NULL,
    flag_key text NOT NULL,
    application text NOT NULL,
    sdk text NOT NULL,
    result text NOT NULL,
    count bigint NOT NULL,
    reported_at bigint NOT NULL,
    CONSTRAINT reported_counts_primary PRIMARY KEY (environment_id, hour, flag_key, application, sdk, result)
);

CREATE TABLE history.reported_windows (
    "window" bytea NOT NULL,
    reported_at bigint NOT NULL,
    CONSTRAINT reported_windows_primary PRIMARY KEY ("window")
);

CREATE INDEX reported_windows_reported_at_index ON history.reported_windows (reported_at);

CREATE TABLE history.dropped_reports (
    environment_id uuid NOT NULL,
    hour integer NOT NULL,
    counts bigint NOT NULL,
    CONSTRAINT dropped_reports_primary PRIMARY KEY (environment_id, hour)
);

CREATE TABLE history.request_series (
    id serial NOT NULL,
    environment_id uuid NOT NULL,
    name text NOT NULL,
    kind text NOT NULL,
    labels text NOT NULL,
    help text NOT NULL,
    seen_at bigint NOT NULL,
    CONSTRAINT request_series_primary PRIMARY KEY (id),
    CONSTRAINT request_series_environment_id_name_kind_labels_unique UNIQUE (environment_id, name, kind, labels)
);

CREATE TABLE history.request_samples (
    series integer NOT NULL,
    minute integer NOT NULL,
    bound text NOT NULL,
    amount double precision NOT NULL,
    times bigint NOT NULL,
    CONSTRAINT request_samples_primary PRIMARY KEY (series, minute, bound)
);

CREATE INDEX request_samples_minute_index ON history.request_samples (minute);

CREATE TABLE history.recorded_environments (
    number serial NOT NULL,
    environment_id uuid NOT NULL,
    kept_from integer DEFAULT 0 NOT NULL,
    counted_segment bigint DEFAULT '0'::bigint NOT NULL,
    CONSTRAINT recorded_environments_primary PRIMARY KEY (number),
    CONSTRAINT recorded_environments_environment_id_unique UNIQUE (environment_id)
);

CREATE TABLE history.layouts (
    id serial NOT NULL,
    environment integer NOT NULL,
    digest bytea NOT NULL,
    content bytea NOT NULL,
    last_used_at bigint NOT NULL,
    version smallint DEFAULT '1'::smallint NOT NULL,
    CONSTRAINT layouts_primary PRIMARY KEY (id),
    CONSTRAINT layouts_environment_digest_unique UNIQUE (environment, digest)
);

CREATE TABLE history.segments (
    id bigserial NOT NULL,
    environment integer NOT NULL,
    layout_id integer NOT NULL,
    first_time bigint NOT NULL,
    last_time bigint NOT NULL,
    size integer NOT NULL,
    user_hashes bytea NOT NULL,
    email_hashes bytea NOT NULL,
    content bytea NOT NULL,
    version smallint DEFAULT '1'::smallint NOT NULL
) PARTITION BY RANGE (last_time);

CREATE TABLE history.segments_default (
    LIKE history.segments INCLUDING DEFAULTS,
    CONSTRAINT segments_default_primary PRIMARY KEY (id)
);

CREATE INDEX segments_default_environment_id_index ON history.segments_default (environment, id);

CREATE INDEX segments_default_environment_last_time_id_index ON history.segments_default (environment, last_time, id);

ALTER TABLE history.segments ATTACH PARTITION history.segments_default DEFAULT;

CREATE INDEX segments_environment_id_index ON history.segments (environment, id);

CREATE INDEX segments_environment_last_time_id_index ON history.segments (environment, last_time, id);

CREATE TABLE history.batches (
    id bytea NOT NULL,
    CONSTRAINT batches_primary PRIMARY KEY (id)
);

CREATE TABLE history.deliveries (
    sink text NOT NULL,
    holder text NOT NULL,
    held_until bigint NOT NULL,
    token text,
    ends text,
    CONSTRAINT deliveries_primary PRIMARY KEY (sink)
);

CREATE TABLE history.delivered (
    environment_id uuid NOT NULL,
    "position" text NOT NULL,
    CONSTRAINT delivered_primary PRIMARY KEY (environment_id)
);

CREATE TABLE history.delivered_events (
    environment_id uuid NOT NULL,
    segment bigint NOT NULL,
    CONSTRAINT delivered_events_primary PRIMARY KEY (environment_id)
);

CREATE TABLE history.summaries (
    environment integer NOT NULL,
    minute integer NOT NULL,
    layout_id integer NOT NULL,
    evaluations bigint NOT NULL,
    counts bytea NOT NULL,
    version smallint DEFAULT '1'::smallint NOT NULL,
    bytes bigint DEFAULT '0'::bigint NOT NULL,
    CONSTRAINT summaries_primary PRIMARY KEY (environment, minute, layout_id)
);

CREATE TABLE history.flag_counts (
    environment integer NOT NULL,
    span smallint NOT NULL,
    start integer NOT NULL,
    flag_key text NOT NULL,
    version smallint NOT NULL,
    counts bytea NOT NULL,
    flag_id uuid,
    others bytea,
    CONSTRAINT flag_counts_primary PRIMARY KEY (environment, span, start, flag_key)
);

CREATE TABLE history.environment_users (
    environment integer NOT NULL,
    day integer NOT NULL,
    version smallint NOT NULL,
    users bytea NOT NULL,
    flags bytea NOT NULL,
    flag_ids bytea,
    single_users bytea,
    CONSTRAINT environment_users_primary PRIMARY KEY (environment, day)
);

CREATE TABLE history.flag_users (
    environment integer NOT NULL,
    day integer NOT NULL,
    flag_key text NOT NULL,
    version smallint NOT NULL,
    on_users bytea NOT NULL,
    off_users bytea NOT NULL,
    flag_id uuid,
    details bytea,
    CONSTRAINT flag_users_primary PRIMARY KEY (environment, day, flag_key)
);

CREATE TABLE history.recorded_bytes (
    environment integer NOT NULL,
    hour integer NOT NULL,
    bytes bigint NOT NULL,
    CONSTRAINT recorded_bytes_primary PRIMARY KEY (environment, hour)
);

CREATE TABLE history.event_segments (
    id bigserial NOT NULL,
    environment integer NOT NULL,
    number bigint NOT NULL,
    size integer NOT NULL,
    last_at bigint NOT NULL,
    version smallint DEFAULT '1'::smallint NOT NULL,
    content bytea NOT NULL,
    key_kind text,
    origins bytea,
    CONSTRAINT event_segments_primary PRIMARY KEY (id)
);

CREATE INDEX event_segments_environment_id_index ON history.event_segments (environment, id);

CREATE INDEX event_segments_environment_last_at_index ON history.event_segments (environment, last_at);

CREATE TABLE history.event_ids (
    environment integer NOT NULL,
    digest text NOT NULL,
    day integer NOT NULL,
    CONSTRAINT event_ids_primary PRIMARY KEY (environment, digest)
);

CREATE INDEX event_ids_day_index ON history.event_ids (day);

CREATE TABLE history.unknown_metrics (
    environment_id uuid NOT NULL,
    metric text NOT NULL,
    events bigint NOT NULL,
    last_at bigint NOT NULL,
    CONSTRAINT unknown_metrics_primary PRIMARY KEY (environment_id, metric)
);

CREATE TABLE history.erasures (
    id uuid NOT NULL,
    project_id uuid NOT NULL,
    digests json NOT NULL,
    sealed bytea,
    until bigint NOT NULL,
    requested_at bigint NOT NULL,
    finished_at bigint,
    stage text NOT NULL,
    problem text,
    evaluations bigint NOT NULL,
    events bigint NOT NULL,
    release_users bigint NOT NULL,
    holder text NOT NULL,
    held_until bigint NOT NULL,
    changes bigint DEFAULT '0'::bigint NOT NULL,
    CONSTRAINT erasures_primary PRIMARY KEY (id)
);

CREATE INDEX erasures_project_id_index ON history.erasures (project_id);

CREATE TABLE history.erased_users (
    environment integer NOT NULL,
    digest bytea NOT NULL,
    until bigint NOT NULL,
    CONSTRAINT erased_users_primary PRIMARY KEY (environment, digest)
);

CREATE TABLE history.freed_pages (
    id serial NOT NULL,
    zeros bytea NOT NULL,
    CONSTRAINT freed_pages_primary PRIMARY KEY (id)
);

CREATE TABLE history.observed_releases (
    number serial NOT NULL,
    release_id uuid NOT NULL,
    environment_id uuid NOT NULL,
    version bigint NOT NULL,
    holder text NOT NULL,
    held_until bigint NOT NULL,
    content bytea NOT NULL,
    CONSTRAINT observed_releases_primary PRIMARY KEY (number),
    CONSTRAINT observed_releases_release_id_unique UNIQUE (release_id)
);

CREATE TABLE history.exposures (
    release integer NOT NULL,
    unit text NOT NULL,
    first_step smallint NOT NULL,
    step smallint NOT NULL,
    arm smallint NOT NULL,
    at bigint NOT NULL,
    CONSTRAINT exposures_primary PRIMARY KEY (release, unit)
);

CREATE TABLE history.user_events (
    release integer NOT NULL,
    metric smallint NOT NULL,
    unit text NOT NULL,
    step smallint NOT NULL,
    arm smallint NOT NULL,
    events integer NOT NULL,
    total double precision NOT NULL,
    CONSTRAINT user_events_primary PRIMARY KEY (release, metric, unit)
);

CREATE TABLE history.counted_releases (
    number serial NOT NULL,
    release_id uuid NOT NULL,
    environment_id uuid NOT NULL,
    version bigint NOT NULL,
    holder text NOT NULL,
    held_until bigint NOT NULL,
    content bytea NOT NULL,
    CONSTRAINT counted_releases_primary PRIMARY KEY (number),
    CONSTRAINT counted_releases_release_id_unique UNIQUE (release_id)
);

CREATE TABLE history.step_exposures (
    release integer NOT NULL,
    unit text NOT NULL,
    step smallint NOT NULL,
    arm smallint NOT NULL,
    at bigint NOT NULL,
    CONSTRAINT step_exposures_primary PRIMARY KEY (release, unit, step)
);

CREATE TABLE history.step_events (
    release integer NOT NULL,
    metric smallint NOT NULL,
    unit text NOT NULL,
    step smallint NOT NULL,
    events integer NOT NULL,
    total double precision NOT NULL,
    limits smallint NOT NULL,
    CONSTRAINT step_events_primary PRIMARY KEY (release, metric, unit, step)
);

CREATE FUNCTION history.msgpack_end(content bytea, start integer, OUT stop integer)
 RETURNS integer
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
DECLARE
    items integer := 1;
    head integer;
    size integer;
BEGIN
    stop := start;
    WHILE items > 0 LOOP
        head := get_byte(content, stop);
        stop := stop + 1;
        items := items - 1;
        CASE
            WHEN head BETWEEN 144 AND 159 THEN items := items + head - 144;
            WHEN head BETWEEN 160 AND 191 THEN stop := stop + head - 160;
            WHEN head BETWEEN 196 AND 198 OR head BETWEEN 217 AND 219 THEN  -- bytes and texts, of three lengths
                size := 1 << (head - CASE WHEN head < 200 THEN 196 ELSE 217 END);
                stop := stop + size
                    + ('x' || lpad(encode(substring(content FROM stop + 1 FOR size), 'hex'), 8, '0'))::bit(32)::integer;
            WHEN head BETWEEN 204 AND 211 THEN stop := stop + (1 << (head % 4));
            WHEN head = 220 THEN
                items := items + get_byte(content, stop) * 256 + get_byte(content, stop + 1);
                stop := stop + 2;
            ELSE NULL;  -- nil, a truth value or a small number
        END CASE;
    END LOOP;
END $function$;

CREATE FUNCTION history.msgpack_integers(content bytea, start integer, OUT numbers bigint[], OUT stop integer)
 RETURNS record
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
DECLARE
    head integer := get_byte(content, start);
    items integer;
    size integer;
    number bigint;
BEGIN
    IF head = 220 THEN
        items := get_byte(content, start + 1) * 256 + get_byte(content, start + 2);
        stop := start + 3;
    ELSE
        items := head - 144;
        stop := start + 1;
    END IF;
    numbers := array_fill(0::bigint, ARRAY[items]);
    FOR place IN 1 .. items LOOP
        head := get_byte(content, stop);
        stop := stop + 1;
        IF head < 128 THEN
            number := head;
        ELSIF head >= 224 THEN
            number := head - 256;
        ELSE  -- 204 to 207 are unsigned, 208 to 211 signed, of 1, 2, 4 and 8 bytes
            size := 1 << (head % 4);
            number := ('x' || lpad(encode(substring(content FROM stop + 1 FOR size), 'hex'), 16, '0'))::bit(64)::bigint;
            IF head >= 208 AND size < 8 AND number >= 1::bigint << (8 * size - 1) THEN
                number := number - (1::bigint << (8 * size));
            END IF;
            stop := stop + size;
        END IF;
        numbers[place] := number;
    END LOOP;
END $function$;

CREATE FUNCTION history.msgpack_texts(content bytea, start integer, OUT texts text[], OUT stop integer)
 RETURNS record
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
DECLARE
    head integer := get_byte(content, start);
    items integer;
    size integer;
BEGIN
    IF head = 220 THEN
        items := get_byte(content, start + 1) * 256 + get_byte(content, start + 2);
        stop := start + 3;
    ELSE
        items := head - 144;
        stop := start + 1;
    END IF;
    texts := array_fill(NULL::text, ARRAY[items]);
    FOR place IN 1 .. items LOOP
        head := get_byte(content, stop);
        stop := stop + 1;
        CONTINUE WHEN head = 192;
        IF head < 192 THEN
            size := head - 160;
        ELSIF head = 217 THEN
            size := get_byte(content, stop);
            stop := stop + 1;
        ELSE
            size := get_byte(content, stop) * 256 + get_byte(content, stop + 1);
            stop := stop + 2;
        END IF;
        texts[place] := convert_from(substring(content FROM stop + 1 FOR size), 'UTF8');
        stop := stop + size;
    END LOOP;
END $function$;

CREATE FUNCTION history.evaluation_origins(environment uuid, since timestamp with time zone, until timestamp with time zone)
 RETURNS TABLE(segment_id bigint, origins text[], places bigint[])
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE STRICT
AS $function$
DECLARE
    first bigint := extract(epoch FROM since) * 1000000;
    stop bigint := extract(epoch FROM until) * 1000000;
    of_environment integer :=
        (SELECT number FROM history.recorded_environments AS known WHERE known.environment_id = environment);
    segment record;
    content bytea;
    place integer;
BEGIN
    FOR segment IN
        SELECT * FROM history.segments AS each
        WHERE each.environment = of_environment AND each.version BETWEEN 1 AND 4
            AND each.last_time >= first AND each.last_time < stop + 3600000000 AND each.first_time < stop
    LOOP
        content := segment.content || ''::bytea;  -- once in memory, and not from its storage for each byte
        CONTINUE WHEN get_byte(content, 0) < 144 + 9;
        place := 1;
        FOR skipped IN 1 .. 7 LOOP
            place := history.msgpack_end(content, place);
        END LOOP;
        CONTINUE WHEN get_byte(content, place) = 192;
        segment_id := segment.id;
        SELECT * FROM history.msgpack_texts(content, place) INTO origins, place;
        SELECT numbers FROM history.msgpack_integers(content, place) INTO places;
        RETURN NEXT;
    END LOOP;
END $function$;

CREATE FUNCTION history.evaluations_of_all_flags(environment uuid, since timestamp with time zone, until timestamp with time zone)
 RETURNS TABLE(id uuid, evaluated_at timestamp with time zone, user_id text, user_email text, layout_id integer, recorded bytea)
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE STRICT
AS $function$
DECLARE
    first bigint := extract(epoch FROM since) * 1000000;
    stop bigint := extract(epoch FROM until) * 1000000;
    of_environment integer :=
        (SELECT number FROM history.recorded_environments AS known WHERE known.environment_id = environment);
    segment record;
    content bytea;
    times integer;
    place integer;
    users text[];
    emails text[];
    width integer;
    moment bigint;
BEGIN
    FOR segment IN
        SELECT * FROM history.segments AS each
        WHERE each.environment = of_environment AND each.version IN (1, 2)
            AND each.last_time >= first AND each.last_time < stop + 3600000000 AND each.first_time < stop
        ORDER BY each.last_time, each.id
    LOOP
        content := segment.content || ''::bytea;  -- once in memory, and not from its storage for each byte
        times := CASE get_byte(content, 1) WHEN 220 THEN 4 ELSE 2 END;
        SELECT * FROM history.msgpack_texts(content, times + 9 * segment.size) INTO users, place;
        SELECT * FROM history.msgpack_texts(content, place) INTO emails, place;
        CASE get_byte(content, place)
            WHEN 196 THEN
                width := get_byte(content, place + 1) / segment.size;
                place := place + 2;
            WHEN 197 THEN
                width := (get_byte(content, place + 1) * 256 + get_byte(content, place + 2)) / segment.size;
                place := place + 3;
            ELSE
                width := ('x' || encode(substring(content FROM place + 2 FOR 4), 'hex'))::bit(32)::integer;
                width := width / segment.size;
                place := place + 5;
        END CASE;
        layout_id := segment.layout_id;
        FOR item IN 0 .. segment.size - 1 LOOP
            moment := ('x' || encode(substring(content FROM times + 9 * item + 2 FOR 8), 'hex'))::bit(64)::bigint;
            moment := moment / 1000;
            CONTINUE WHEN moment < first OR moment >= stop OR moment < segment.first_time;
            id := (
                lpad(to_hex(moment / 1000), 12, '0') || to_hex(28672 + moment % 1000)
                || to_hex(-9223372036854775808 + segment.id * 65536 + item)
            )::uuid;
            evaluated_at := timestamptz 'epoch' + moment * interval '1 microsecond';
            user_id := users[item + 1];
            user_email := emails[item + 1];
            recorded := substring(content FROM place + item * width + 1 FOR width);
            RETURN NEXT;
        END LOOP;
    END LOOP;
END $function$;

CREATE FUNCTION history.evaluations_of_single_flags(environment uuid, since timestamp with time zone, until timestamp with time zone)
 RETURNS TABLE(id uuid, evaluated_at timestamp with time zone, user_id text, user_email text, layout_id integer, recorded bytea)
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE STRICT
AS $function$
DECLARE
    first bigint := extract(epoch FROM since) * 1000000;
    stop bigint := extract(epoch FROM until) * 1000000;
    of_environment integer :=
        (SELECT number FROM history.recorded_environments AS known WHERE known.environment_id = environment);
    segment record;
    content bytea;
    place integer;
    steps bigint[];
    users text[];
    emails text[];
    width integer;
    moment bigint;
BEGIN
    FOR segment IN
        SELECT * FROM history.segments AS each
        WHERE each.environment = of_environment AND each.version IN (3, 4)
            AND each.last_time >= first AND each.last_time < stop + 3600000000 AND each.first_time < stop
        ORDER BY each.last_time, each.id
    LOOP
        content := segment.content || ''::bytea;  -- once in memory, and not from its storage for each byte
        SELECT * FROM history.msgpack_integers(content, 1) INTO steps, place;
        SELECT * FROM history.msgpack_texts(content, place) INTO users, place;
        SELECT * FROM history.msgpack_texts(content, place) INTO emails, place;
        place := place + CASE get_byte(content, place) WHEN 220 THEN 3 ELSE 1 END;
        layout_id := segment.layout_id;
        moment := 0;
        FOR item IN 1 .. segment.size LOOP
            CASE get_byte(content, place)
                WHEN 196 THEN
                    width := get_byte(content, place + 1);
                    place := place + 2;
                WHEN 197 THEN
                    width := get_byte(content, place + 1) * 256 + get_byte(content, place + 2);
                    place := place + 3;
                ELSE
                    width := ('x' || encode(substring(content FROM place + 2 FOR 4), 'hex'))::bit(32)::integer;
                    place := place + 5;
            END CASE;
            recorded := substring(content FROM place + 1 FOR width);
            place := place + width;
            moment := moment + steps[item];
            CONTINUE WHEN moment < first OR moment >= stop OR moment < segment.first_time;
            id := (
                lpad(to_hex(moment / 1000), 12, '0') || to_hex(28672 + moment % 1000)
                || to_hex(-9223372036854775808 + segment.id * 65536 + item - 1)
            )::uuid;
            evaluated_at := timestamptz 'epoch' + moment * interval '1 microsecond';
            user_id := users[item];
            user_email := emails[item];
            RETURN NEXT;
        END LOOP;
    END LOOP;
END $function$;

CREATE FUNCTION history.evaluations(environment uuid, since timestamp with time zone, until timestamp with time zone)
 RETURNS TABLE(id uuid, evaluated_at timestamp with time zone, user_id text, user_email text, layout_id integer, recorded bytea)
 LANGUAGE sql
 STABLE PARALLEL SAFE STRICT
AS $function$
    SELECT * FROM history.evaluations_of_all_flags(environment, since, until)
    UNION ALL SELECT * FROM history.evaluations_of_single_flags(environment, since, until)
$function$;

CREATE FUNCTION history.evaluation_rows(of_environment uuid, since timestamp with time zone, until timestamp with time zone)
 RETURNS TABLE(project_id uuid, environment_id uuid, environment text, id uuid, evaluated_at timestamp with time zone, user_id text, user_email text, revision bigint, key_id uuid, key_name text, protocol text, instance text, layout_id integer, recorded bytea)
 LANGUAGE sql
 STABLE PARALLEL SAFE STRICT
AS $function$
    SELECT environments.project_id, environments.id, environments.key, found.id, found.evaluated_at, found.user_id,
        found.user_email, found.origins[found.first]::bigint, found.origins[found.first + 1]::uuid, sdk_keys.name,
        found.origins[found.first + 2], found.origins[found.first + 3], found.layout_id, found.recorded
    FROM (
        SELECT evaluation.*, origin.origins,
            1 + 4 * coalesce(origin.places[1 + (evaluation.tail & 65535)::integer], 0)::integer AS first
        FROM (
            SELECT *, ('x' || right(replace(id::text, '-', ''), 16))::bit(64)::bigint & 4611686018427387903 AS tail
            FROM history.evaluations(of_environment, since, until)
        ) AS evaluation
        LEFT JOIN history.evaluation_origins(of_environment, since, until) AS origin
            ON origin.segment_id = evaluation.tail >> 16
    ) AS found
    JOIN environments ON environments.id = of_environment
    LEFT JOIN sdk_keys ON sdk_keys.id = found.origins[found.first + 1]::uuid
$function$;
