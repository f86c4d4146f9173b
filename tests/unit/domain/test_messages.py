"""The messages between instances: any instance reads them, and the previous release gets those that it understands."""

from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstaff.database.messages import (
    MOST_BYTES,
    Asked,
    acknowledgements,
    answers,
    change,
    questions,
    read_acknowledged,
    read_place,
    read_question,
)

OWN, ASKER = "a" * 16, "b" * 16
ENVIRONMENT = uuid4()


def read(message: str) -> list[tuple[Asked, UUID]]:
    word, asker, numbers, *projects = message.split()
    assert word == "question"
    return read_question(asker, numbers, projects)


@pytest.mark.parametrize(
    ("numbers", "projects"), [("1", []), ("1,2", [uuid4()]), ("1", [uuid4(), uuid4()]), ("1", ["not-an-id"])]
)
def test_a_question_without_a_project_for_each_number_is_refused(numbers: str, projects: list[object]) -> None:
    with pytest.raises(ValueError, match=r"UUID|shorter|longer"):
        read_question(ASKER, numbers, [str(each) for each in projects])


@pytest.mark.parametrize("environment", [None, ENVIRONMENT])
def test_a_change_names_its_place(environment: UUID | None) -> None:
    project = uuid4()
    assert read_place(*change(OWN, project, environment).split()[2:]) == (project, environment)


@given(st.dictionaries(st.integers(1, 10**9).map(str), st.uuids(), max_size=400), st.booleans())
def test_questions_are_read_as_they_were_asked_and_fit_into_notifications(
    projects: dict[str, UUID], as_lists: bool
) -> None:
    messages = [each.text for each in questions(ASKER, projects.items(), as_lists=as_lists)]
    assert all(len(message.encode()) <= MOST_BYTES for message in messages)
    assert {asked.number: project for message in messages for asked, project in read(message)} == projects
    if as_lists:
        assert len(messages) <= 1 + len(projects) / 100


@given(st.sets(st.integers(1, 10**9).map(str), max_size=2000))
def test_answers_to_lists_are_lists_that_fit_into_notifications(numbers: set[str]) -> None:
    sent = answers(OWN, [Asked(ASKER, number, takes_lists=True) for number in numbers], {ASKER})
    assert {each.to for each in sent} <= {ASKER}, "nobody else gets them"
    messages = [each.text for each in sent]
    assert all(len(message.encode()) <= MOST_BYTES for message in messages)
    assert {number for message in messages for number in message.split()[3].split(",")} == numbers


def test_the_previous_release_gets_single_questions_and_single_answers() -> None:
    projects = [(str(number), uuid4()) for number in range(3)]
    asked = [each.text for each in questions(ASKER, projects, as_lists=False)]
    assert asked == [f"question {ASKER} {number} {project}" for number, project in projects]
    answered = answers(OWN, [each for message in asked for each, _ in read(message)], {"c" * 16})
    assert answered == [(f"answer {OWN} {ASKER} {number}", None) for number in range(3)]


@given(
    st.dictionaries(st.tuples(st.sampled_from([ASKER, "c" * 16]), st.uuids()), st.integers(0, 2**63 - 1), max_size=500)
)
def test_acknowledgements_are_read_as_they_were_sent_and_fit_into_notifications(
    served: dict[tuple[str, UUID], int],
) -> None:
    found: dict[tuple[str, UUID], int] = {}
    for message in acknowledgements(OWN, served):
        assert len(message.text.encode()) <= MOST_BYTES
        word, instance, asker, *acknowledged = message.text.split()
        assert (word, instance, asker) == ("served", OWN, message.to)
        found |= {(asker, project): revision for project, revision in read_acknowledged(acknowledged)}
    assert found == served


@pytest.mark.parametrize("words", [["not-an-id", "1"], [str(uuid4())], [str(uuid4()), "many"]])
def test_an_acknowledgement_without_a_revision_for_each_project_is_refused(words: list[str]) -> None:
    with pytest.raises(ValueError, match=r"UUID|shorter|int"):
        read_acknowledged(words)
