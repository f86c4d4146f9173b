"""The messages of the instances to each other: words, and lists of them that share a message.

A message has one of these forms:

    change INSTANCE PROJECT ENVIRONMENT        ENVIRONMENT is - for the whole project
    question INSTANCE NUMBER PROJECT
    question INSTANCE NUMBER,NUMBER… PROJECT PROJECT…
    answer INSTANCE ASKER NUMBER
    answer INSTANCE ASKER NUMBER,NUMBER…

The previous release does not understand the forms with lists. While it serves beside this one during an upgrade, each
gets the forms that it understands:

- An instance says in its report that it takes lists. A question is sent as a list only if all instances that it waits
  for have said so (`Row.takes_lists`). Otherwise each number is sent in a message of its own.
- An answer has the form of its question, so the previous release gets single answers to its questions.
- The previous release ignores the answers to others, whatever they contain.

Both forms are sent in one statement, so the number of statements does not depend on the form.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from uuid import UUID

MOST_BYTES = 7999
"""The most that PostgreSQL accepts in a notification."""
_WHOLE_PROJECT = "-"


class Asked(NamedTuple):
    """A number under which an instance has asked for a project, and whether it takes a list as the answer."""

    asker: str
    number: str
    takes_lists: bool


def change(instance: str, project_id: UUID, environment_id: UUID | None) -> str:
    """A change to an environment, or to the whole project."""
    return f"change {instance} {project_id} {environment_id or _WHOLE_PROJECT}"


def read_place(project: str, environment: str) -> tuple[UUID, UUID | None]:
    """The project and the environment of a change; raises ValueError."""
    return UUID(project), None if environment == _WHOLE_PROJECT else UUID(environment)


def questions(instance: str, projects: Iterable[tuple[str, UUID]], *, as_lists: bool) -> list[str]:
    """The questions for these numbers and projects, in as few messages as the form allows."""
    beginning = f"question {instance} "
    pairs = [(number, str(project_id)) for number, project_id in projects]
    chunks = _chunks(pairs, len(beginning)) if as_lists else ([pair] for pair in pairs)
    return [
        " ".join((f"{beginning}{','.join(number for number, _ in chunk)}", *(project for _, project in chunk)))
        for chunk in chunks
    ]


def read_question(asker: str, numbers: str, projects: Sequence[str]) -> list[tuple[Asked, UUID]]:
    """Return what a question asks for; raises ValueError."""
    each = numbers.split(",")
    return [
        (Asked(asker, number, takes_lists=len(each) > 1), UUID(project))
        for number, project in zip(each, projects, strict=True)
    ]


def answers(instance: str, asked: Iterable[Asked]) -> list[str]:
    """The answers, in as few messages as the forms of the questions allow."""
    messages: list[str] = []
    lists: dict[str, list[tuple[str, ...]]] = {}
    for each in asked:
        if each.takes_lists:
            lists.setdefault(each.asker, []).append((each.number,))
        else:
            messages.append(f"answer {instance} {each.asker} {each.number}")
    for asker, numbers in lists.items():
        beginning = f"answer {instance} {asker} "
        messages += [beginning + ",".join(number for (number,) in part) for part in _chunks(numbers, len(beginning))]
    return messages


def _chunks(entries: Iterable[tuple[str, ...]], beginning: int) -> Iterator[list[tuple[str, ...]]]:
    """Split entries into parts, each of which fits into a message with a separator after each word."""
    chunk: list[tuple[str, ...]] = []
    size = beginning
    for entry in entries:
        added = sum(len(word) + 1 for word in entry)
        if chunk and size + added > MOST_BYTES:
            yield chunk
            chunk, size = [], beginning
        chunk.append(entry)
        size += added
    if chunk:
        yield chunk
