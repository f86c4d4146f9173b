CREATE TABLE history.event_id_generations (
    id bigserial NOT NULL,
    environment integer NOT NULL,
    key_kind text NOT NULL,
    day integer NOT NULL,
    ids bigint NOT NULL,
    CONSTRAINT event_id_generations_primary PRIMARY KEY (id)
);

CREATE INDEX event_id_generations_environment_index ON history.event_id_generations (environment);

CREATE TABLE history.event_id_pages (
    generation bigint NOT NULL,
    first text COLLATE "C" NOT NULL,
    content bytea NOT NULL,
    CONSTRAINT event_id_pages_primary PRIMARY KEY (generation, first)
);

CREATE FUNCTION history.skip_id_in_pages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.digest !~ '^[0-9a-f]{16}' THEN
        RETURN NEW;
    END IF;
    IF EXISTS (
        SELECT
        FROM history.event_id_generations g
        CROSS JOIN LATERAL (
            SELECT q.content FROM history.event_id_pages q
            WHERE q.generation = g.id AND q.first <= substr(NEW.digest, 1, 16)
            ORDER BY q.first DESC LIMIT 1
        ) p
        WHERE g.environment = NEW.environment AND position(decode(substr(NEW.digest, 1, 16), 'hex') IN p.content) > 0
    ) THEN
        RETURN NULL;
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER event_ids_in_pages BEFORE INSERT ON history.event_ids
FOR EACH ROW EXECUTE FUNCTION history.skip_id_in_pages();
