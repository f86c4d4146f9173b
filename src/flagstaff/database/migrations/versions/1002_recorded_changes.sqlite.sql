ALTER TABLE changes ADD COLUMN based_on BIGINT;

ALTER TABLE changes ADD COLUMN delta_bytes INTEGER;

ALTER TABLE changes ADD COLUMN whole_bytes INTEGER;

ALTER TABLE changes ADD COLUMN state_digest BIGINT;

CREATE TABLE project_recorded_bytes (
    owner_id CHAR(32) NOT NULL,
    began_at BIGINT NOT NULL,
    in_hour BIGINT NOT NULL,
    altogether BIGINT NOT NULL,
    CONSTRAINT project_recorded_bytes_primary PRIMARY KEY (owner_id),
    CONSTRAINT project_recorded_bytes_owner_id_reference FOREIGN KEY(owner_id) REFERENCES projects (id) ON DELETE CASCADE
);

CREATE TABLE account_recorded_bytes (
    owner_id CHAR(32) NOT NULL,
    began_at BIGINT NOT NULL,
    in_hour BIGINT NOT NULL,
    altogether BIGINT NOT NULL,
    CONSTRAINT account_recorded_bytes_primary PRIMARY KEY (owner_id),
    CONSTRAINT account_recorded_bytes_owner_id_reference FOREIGN KEY(owner_id) REFERENCES accounts (id) ON DELETE CASCADE
);
