"""Finding the users of the latest evaluations, with the newest evaluation of each."""

from datetime import datetime, timedelta
from uuid import uuid4

from flagstaff.database.database import Database
from flagstaff.history.store.batches import find_environment_number
from flagstaff.history.store.deletions import hide_evaluations
from flagstaff.history.store.users import newest_of_each_user
from tests.support.history import START, make_batch, make_layout, make_record, write

ENVIRONMENT = uuid4()
LAYOUT = make_layout()


async def find_users(database: Database, since: datetime = START) -> tuple[dict[str, float], list[float], list[str]]:
    """Find each user's newest evaluation.

    Return these, how far each stretch has examined the history, and the users in the order in which they were found.
    Times are seconds after the start.
    """
    newest: dict[str, float] = {}
    examined, found = [], []
    async with database.read_history() as connection:
        number = await find_environment_number(connection, ENVIRONMENT)
        assert number is not None
        async for stretch in newest_of_each_user(connection, number, since):
            for user, evaluation in stretch.evaluations:
                assert user in (evaluation.user_id, (evaluation.user_email or "").lower())
                newest[user] = (evaluation.evaluated_at - START).total_seconds()
                found.append(user)
            examined.append((stretch.since - START).total_seconds())
    return newest, examined, found


async def test_each_user_has_the_newest_evaluation(database: Database) -> None:
    first = make_batch(ENVIRONMENT, LAYOUT, make_record(1, "ada"), make_record(2, "eve"), make_record(3, "ada"))
    other = make_batch(ENVIRONMENT, make_layout(), make_record(4, "eve"), make_record(5, "Ada"))
    await write(database, first, other, make_batch(uuid4(), LAYOUT, make_record(6, "bob")))
    newest, examined, found = await find_users(database)
    assert newest == {"ada": 3, "eve": 4, "Ada": 5}
    assert found == ["Ada", "eve", "ada"]
    assert examined == [3.000001, 0]


async def test_a_user_without_an_id_is_the_email_in_lower_case_and_nobody_is_left_out(database: Database) -> None:
    records = [
        make_record(1, None, user_email="Ada@Example.com"),
        make_record(2, "", user_email="ada@example.com"),
        make_record(3, None),
        make_record(4, "", user_email=""),
        make_record(5, "ada", user_email="other@example.com"),
    ]
    await write(database, make_batch(ENVIRONMENT, LAYOUT, *records))
    assert (await find_users(database))[0] == {"ada": 5, "ada@example.com": 2}


async def test_only_evaluations_since_the_moment_count(database: Database) -> None:
    await write(database, make_batch(ENVIRONMENT, LAYOUT, make_record(1, "ada"), make_record(2, "eve")))
    newest, examined, _ = await find_users(database, START + timedelta(seconds=2))
    assert (newest, examined) == ({"eve": 2}, [2])
    assert (await find_users(database, START + timedelta(seconds=3)))[0] == {}


async def test_a_hidden_evaluation_does_not_count(database: Database) -> None:
    await write(database, make_batch(ENVIRONMENT, LAYOUT, make_record(1, "ada"), make_record(2, "eve")))
    async with database.write_history() as connection:
        number = await find_environment_number(connection, ENVIRONMENT)
        assert number is not None
        await hide_evaluations(connection, number, START + timedelta(seconds=2))
    assert (await find_users(database))[0] == {"eve": 2}


async def test_of_overlapping_segments_the_newest_evaluation_is_found_in_the_end(database: Database) -> None:
    one = make_batch(ENVIRONMENT, LAYOUT, make_record(1, "ada"), make_record(9, "eve"))
    other = make_batch(ENVIRONMENT, make_layout(), make_record(2, "ada"), make_record(8, "bob"))
    await write(database, one, other)
    newest, _, found = await find_users(database)
    assert newest == {"ada": 2, "eve": 9, "bob": 8}
    assert found.count("ada") == 2


async def test_many_segments_are_examined_from_the_newest_on(database: Database) -> None:
    for number in range(19):
        record = make_record(number, f"user-{number}")
        await write(database, make_batch(ENVIRONMENT, make_layout(), record))
    newest, examined, found = await find_users(database)
    assert found == [f"user-{number}" for number in reversed(range(19))]
    assert newest == {f"user-{number}": number for number in range(19)}
    assert examined == sorted(examined, reverse=True)
    assert examined[-1] == 0
