"""The messages of the instances to each other: words, and lists of them that share a message.

A message has one of these forms:

    change INSTANCE PROJECT ENVIRONMENT        ENVIRONMENT is - for the whole project
    served INSTANCE ASKER PROJECT REVISION PROJECT REVISION…
    question INSTANCE NUMBER PROJECT
    question INSTANCE NUMBER,NUMBER… PROJECT PROJECT…
    answer INSTANCE ASKER NUMBER
    answer INSTANCE ASKER NUMBER,NUMBER…

An instance that has loaded a change acknowledges it without being asked: it tells the one that made the change up to
which revision it serves the project. Whoever has not done so is asked. All instances receive changes and questions.
What is meant for one instance goes by a channel to which no other listens, so the messages that a change causes grow
with the number of instances and not with its square.

The previous release neither acknowledges, nor listens to a channel of its own, nor understands lists. While it serves
beside this one during an upgrade, each gets what it understands:

- An instance says in its report that it acknowledges (`Row.acknowledges`). One that has not said so is asked at once. A
  question is sent as a list only if all instances that it waits for have said so. Otherwise each number is sent in a
  message of its own.
- An answer has the form of its question, so the previous release gets single answers to its questions. It gets them by
  the channel of all.
- The previous release ignores the answers to others, whatever they contain.

All that is ready is sent in one statement, so the number of statements does not depend on the form.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

CHANNEL = "flagstaff"
"""The channel of PostgreSQL to which every instance listens."""
MOST_BYTES = 7999
"""The most that PostgreSQL accepts in a notification."""
_WHOLE_PROJECT = "-"


class Message(NamedTuple):
    """The text of a message, and the instance that it is for; None for all."""

    text: str
    to: str | None = None


class Asked(NamedTuple):
    """A number under which an instance has asked for a project, and whether it takes a list as the answer."""

    asker: str
    number: str
    takes_lists: bool


def channel_of(instance: str) -> str:
    """The channel to which only this instance listens."""
    return f"{CHANNEL}_{instance}"


def change(instance: str, project_id: UUID, environment_id: UUID | None) -> str:
    """A change to an environment, or to the whole project."""
    return f"change {instance} {project_id} {environment_id or _WHOLE_PROJECT}"


def read_place(project: str, environment: str) -> tuple[UUID, UUID | None]:
    """The project and the environment of a change; raises ValueError."""
    return UUID(project), None if environment == _WHOLE_PROJECT else UUID(environment)


def questions(instance: str, projects: Iterable[tuple[str, UUID]], *, as_lists: bool) -> list[Message]:
    """The questions for these numbers and projects, in as few messages as the form allows."""
    beginning = f"question {instance} "
    pairs = [(number, str(project_id)) for number, project_id in projects]
    chunks = _chunks(pairs, len(beginning)) if as_lists else ([pair] for pair in pairs)
    return [
        Message(" ".join((f"{beginning}{','.join(number for number, _ in chunk)}", *(project for _, project in chunk))))
        for chunk in chunks
    ]


def read_question(asker: str, numbers: str, projects: Sequence[str]) -> list[tuple[Asked, UUID]]:
    """Return what a question asks for; raises ValueError."""
    each = numbers.split(",")
    return [
        (Asked(asker, number, takes_lists=len(each) > 1), UUID(project))
        for number, project in zip(each, projects, strict=True)
    ]


def answers(instance: str, asked: Iterable[Asked], listening: Collection[str]) -> list[Message]:
    """The answers, in as few messages as the forms of the questions allow.

    They go by the asker's own channel if it is one of the instances that are known to listen to theirs.
    """
    found: list[Message] = []
    lists: dict[str, list[tuple[str, ...]]] = {}
    for each in asked:
        if each.takes_lists:
            lists.setdefault(each.asker, []).append((each.number,))
        else:
            found.append(Message(f"answer {instance} {each.asker} {each.number}", each.asker))
    for asker, numbers in lists.items():
        beginning = f"answer {instance} {asker} "
        parts = _chunks(numbers, len(beginning))
        found += [Message(beginning + ",".join(number for (number,) in part), asker) for part in parts]
    return [each if each.to in listening else Message(each.text) for each in found]


def acknowledgements(instance: str, served: Mapping[tuple[str, UUID], int]) -> list[Message]:
    """Messages to instances that have changed projects, with the revisions up to which `instance` serves these."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for (asker, project_id), revision in served.items():
        found.setdefault(asker, []).append((str(project_id), str(revision)))
    messages: list[Message] = []
    for asker, pairs in found.items():
        beginning = f"served {instance} {asker}"
        parts = (" ".join(word for pair in part for word in pair) for part in _chunks(pairs, len(beginning) + 1))
        messages += [Message(f"{beginning} {part}", asker) for part in parts]
    return messages


def read_acknowledged(words: Sequence[str]) -> list[tuple[UUID, int]]:
    """The projects and revisions of an acknowledgement; raises ValueError."""
    return [(UUID(project), int(revision)) for project, revision in zip(words[::2], words[1::2], strict=True)]


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
