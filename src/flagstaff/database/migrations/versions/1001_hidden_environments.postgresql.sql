ALTER TABLE environments ALTER COLUMN project_id DROP NOT NULL;

ALTER TABLE environments ADD COLUMN built_until BIGINT;
