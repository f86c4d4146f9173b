"""Evaluations of single flags in segments that they share, and `history.evaluations` on PostgreSQL with these."""

import sqlalchemy as sa
from alembic import op

revision = "0045"
down_revision = "0044"

_HISTORY = "history"
_NEWEST_SEGMENT = 2  # that earlier revisions know
_segments = sa.table("segments", *map(sa.column, ("version", "size")), schema=_HISTORY)
_with_single_flags = _segments.c.version > _NEWEST_SEGMENT

_ALL_FLAGS = "evaluations_of_all_flags"
_CREATE_INTEGERS = """
CREATE FUNCTION history.msgpack_integers(content bytea, start integer, OUT numbers bigint[], OUT stop integer)
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
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
END $$
"""
# See history/store/columns.py and ids.py.
_CREATE_SINGLE_FLAGS = """
CREATE FUNCTION history.evaluations_of_single_flags(environment uuid, since timestamptz, until timestamptz)
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
END $$
"""
# Replaced and not dropped, because views may use it.
_REPLACE_EVALUATIONS = """
CREATE OR REPLACE FUNCTION history.evaluations(environment uuid, since timestamptz, until timestamptz)
RETURNS TABLE (
    id uuid, evaluated_at timestamptz, user_id text, user_email text, layout_id integer, recorded bytea
)
LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
    SELECT * FROM history.evaluations_of_all_flags(environment, since, until)
    UNION ALL SELECT * FROM history.evaluations_of_single_flags(environment, since, until)
$$
"""


def upgrade() -> None:
    """Let the function return what the new versions of segments hold; the columns have room for them."""
    if op.get_bind().dialect.name != "postgresql":
        return
    _copy_function("evaluations", _ALL_FLAGS)
    for function in (_CREATE_INTEGERS, _CREATE_SINGLE_FLAGS, _REPLACE_EVALUATIONS):
        op.get_bind().exec_driver_sql(function)


def losses(connection: sa.Connection) -> list[str]:
    """Return what a downgrade would drop."""
    counted = sa.select(sa.func.coalesce(sa.func.sum(_segments.c.size), 0)).where(_with_single_flags)
    number = connection.execute(counted).scalar_one()
    return [f"{number} recorded evaluations, of single flags and of all flags between these"] if number else []


def downgrade() -> None:
    """Delete segments with single flags. Their counts stay, but for those of constant flags of the last minutes."""
    connection = op.get_bind()
    connection.execute(sa.delete(_segments).where(_with_single_flags))
    if connection.dialect.name != "postgresql":
        return
    _copy_function(_ALL_FLAGS, "evaluations")
    for function in (_ALL_FLAGS, "evaluations_of_single_flags", "msgpack_integers"):
        op.execute(f"DROP FUNCTION history.{function}")


def _copy_function(name: str, copy: str) -> None:
    connection = op.get_bind()
    found = connection.exec_driver_sql(f"SELECT pg_get_functiondef('history.{name}'::regproc)").scalar_one()
    connection.exec_driver_sql(found.replace(f"history.{name}(", f"history.{copy}("))
