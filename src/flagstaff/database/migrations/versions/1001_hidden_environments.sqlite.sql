CREATE TABLE new_environments (
    id CHAR(32) NOT NULL,
    project_id CHAR(32),
    name TEXT NOT NULL,
    "key" TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    revision BIGINT DEFAULT '0' NOT NULL,
    critical BOOLEAN,
    position INTEGER DEFAULT '2147483647' NOT NULL,
    history_retention_days INTEGER,
    built_until BIGINT,
    CONSTRAINT environments_primary PRIMARY KEY (id),
    CONSTRAINT environments_project_id_key_unique UNIQUE (project_id, "key"),
    CONSTRAINT environments_project_id_reference FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);

INSERT INTO new_environments SELECT *, NULL FROM environments;

DROP TABLE environments;

ALTER TABLE new_environments RENAME TO environments;
