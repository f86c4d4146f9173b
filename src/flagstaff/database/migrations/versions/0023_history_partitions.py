"""The history's segments in a partition for each day, on PostgreSQL, with a function that reads them.

Nothing is copied on the way up: the table becomes the default partition of a new one of the same name, so that earlier
releases go on reading and writing. history/store/partitions.py adds and drops the days.
"""

from alembic import op

revision = "0023"
down_revision = "0022"

_INDEXES = ("segments_environment_last_time_id_index", "segments_environment_id_index")

# The texts of an array of msgpack that begins at a byte of the content, and the byte after it.
_CREATE_TEXTS = """
CREATE FUNCTION history.msgpack_texts(content bytea, start integer, OUT texts text[], OUT stop integer)
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
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
END $$
"""
# See history/store/columns.py and ids.py. Layouts and attributes are compressed, which SQL cannot undo.
_CREATE_EVALUATIONS = """
CREATE FUNCTION history.evaluations(environment uuid, since timestamptz, until timestamptz)
RETURNS TABLE (
    id uuid, evaluated_at timestamptz, user_id text, user_email text, layout_id integer, recorded bytea
)
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $$
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
END $$
"""


def upgrade() -> None:
    """Put the table below a partitioned one."""
    if op.get_bind().dialect.name != "postgresql":
        return
    op.execute("ALTER TABLE history.segments RENAME TO segments_default")
    for name in (*_INDEXES, "segments_primary"):
        op.execute(f"ALTER INDEX history.{name} RENAME TO {_in_default(name)}")
    op.execute(
        "CREATE TABLE history.segments (LIKE history.segments_default INCLUDING DEFAULTS INCLUDING STORAGE"
        " INCLUDING COMPRESSION) PARTITION BY RANGE (last_time)"
    )
    op.execute("ALTER SEQUENCE history.segments_id_seq OWNED BY history.segments.id")
    # There is no other partition, so no row needs to be looked at; and the indexes that exist become parts of these.
    op.execute("ALTER TABLE history.segments ATTACH PARTITION history.segments_default DEFAULT")
    op.create_index(_INDEXES[0], "segments", ["environment", "last_time", "id"], schema="history")
    op.create_index(_INDEXES[1], "segments", ["environment", "id"], schema="history")
    for function in (_CREATE_TEXTS, _CREATE_EVALUATIONS):
        op.get_bind().exec_driver_sql(function)


def downgrade() -> None:
    """Make it one table again, to which the rows of the days are copied."""
    if op.get_bind().dialect.name != "postgresql":
        return
    op.execute("DROP FUNCTION history.evaluations")
    op.execute("DROP FUNCTION history.msgpack_texts")
    op.execute("ALTER TABLE history.segments DETACH PARTITION history.segments_default")
    op.execute("ALTER TABLE history.segments_default DROP CONSTRAINT IF EXISTS segments_default_before")
    op.execute("INSERT INTO history.segments_default SELECT * FROM history.segments")
    op.execute("ALTER SEQUENCE history.segments_id_seq OWNED BY history.segments_default.id")
    op.drop_table("segments", schema="history")
    op.execute("ALTER TABLE history.segments_default RENAME TO segments")
    for name in (*_INDEXES, "segments_primary"):
        op.execute(f"ALTER INDEX history.{_in_default(name)} RENAME TO {name}")


def _in_default(name: str) -> str:
    return name.replace("segments", "segments_default", 1)
