"""`history.evaluation_rows` on PostgreSQL, with the origins of evaluations, and how far events were sent elsewhere."""

import sqlalchemy as sa
from alembic import op

revision = "0047"
down_revision = "0046"

_HISTORY = "history"

# The byte after a value of msgpack that begins at a byte of the content.
_CREATE_END = """
CREATE FUNCTION history.msgpack_end(content bytea, start integer, OUT stop integer)
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
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
END $$
"""
# See history/store/columns.py: the origins are the eighth column, four texts for each, and their places the ninth.
_CREATE_ORIGINS = """
CREATE FUNCTION history.evaluation_origins(environment uuid, since timestamptz, until timestamptz)
RETURNS TABLE (segment_id bigint, origins text[], places bigint[])
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $$
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
END $$
"""
# An evaluation's id ends with its segment and its place there: see history/store/ids.py.
_CREATE_ROWS = """
CREATE FUNCTION history.evaluation_rows(of_environment uuid, since timestamptz, until timestamptz)
RETURNS TABLE (
    project_id uuid, environment_id uuid, environment text, id uuid, evaluated_at timestamptz, user_id text,
    user_email text, revision bigint, key_id uuid, key_name text, protocol text, instance text, layout_id integer,
    recorded bytea
)
LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
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
$$
"""


def upgrade() -> None:
    """Create the table and the functions."""
    op.create_table(
        "delivered_events",
        sa.Column("environment_id", sa.Uuid, nullable=False),
        sa.Column("segment", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("environment_id", name="delivered_events_primary"),
        schema=_HISTORY,
        sqlite_with_rowid=False,
    )
    if op.get_bind().dialect.name == "postgresql":
        for function in (_CREATE_END, _CREATE_ORIGINS, _CREATE_ROWS):
            op.get_bind().exec_driver_sql(function)


def losses(connection: sa.Connection) -> list[str]:
    """Return what a downgrade would drop: without the positions, all events are sent again, and stored twice there."""
    delivered = sa.table("delivered_events", schema=_HISTORY)
    number = connection.execute(sa.select(sa.func.count()).select_from(delivered)).scalar_one()
    return [f"how far the events of {number} environments were sent to ClickHouse"] if number else []


def downgrade() -> None:
    """Drop them. The origins stay in the segments, where earlier releases ignore them."""
    if op.get_bind().dialect.name == "postgresql":
        for function in ("evaluation_rows", "evaluation_origins", "msgpack_end"):
            op.execute(f"DROP FUNCTION history.{function}")
    op.drop_table("delivered_events", schema=_HISTORY)
