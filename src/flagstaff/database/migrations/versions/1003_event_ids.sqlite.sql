CREATE TABLE history.event_id_generations (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    environment INTEGER NOT NULL,
    key_kind TEXT NOT NULL,
    day INTEGER NOT NULL,
    ids BIGINT NOT NULL
);

CREATE INDEX history.event_id_generations_environment_index ON event_id_generations (environment);

CREATE TABLE history.event_id_pages (
    generation BIGINT NOT NULL,
    first TEXT NOT NULL,
    content BLOB NOT NULL,
    CONSTRAINT event_id_pages_primary PRIMARY KEY (generation, first)
);

CREATE TRIGGER history.event_ids_in_pages BEFORE INSERT ON event_ids
WHEN EXISTS (
    SELECT 1
    FROM event_id_generations g
    JOIN event_id_pages p ON p.generation = g.id AND p.first = (
        SELECT max(q.first) FROM event_id_pages q WHERE q.generation = g.id AND q.first <= substr(NEW.digest, 1, 16)
    )
    WHERE g.environment = NEW.environment AND instr(hex(p.content), upper(substr(NEW.digest, 1, 16))) > 0
)
BEGIN
    SELECT RAISE(IGNORE);
END;
