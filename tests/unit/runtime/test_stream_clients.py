"""What is remembered of clients that open streams again."""

from uuid import uuid4

import pytest

from flagstaff.history.applications import Client
from flagstaff.serving.unleash import stream_clients
from flagstaff.serving.unleash.stream_clients import Missed, StreamClients
from tests.support.limits import NO_LIMITS

KEY = uuid4()


def client(connection: str) -> Client:
    return Client("shop", "shop-1", connection, "unleash-node-sdk:6.12.1")


def missed(clients: StreamClients, connection: str, heard: bytes | None = None) -> Missed:
    headers = [] if heard is None else [(b"last-event-id", heard)]
    return clients.find_missed(KEY, client(connection), headers)


def test_a_client_has_missed_what_it_does_not_name() -> None:
    clients = StreamClients(NO_LIMITS)
    clients.record_end(KEY, client("one"), 7)
    assert [missed(clients, "one", heard) for heard in (None, b"", b"6", b"x", b"7", b"8")] == [
        Missed.ALL,
        Missed.ALL,
        Missed.LAST,
        Missed.LAST,
        Missed.NOTHING,
        Missed.NOTHING,
    ]
    assert clients.find_missed(uuid4(), client("one"), []) is Missed.NOTHING
    assert missed(clients, "another") is Missed.NOTHING


def test_a_stream_without_an_event_changes_nothing() -> None:
    clients = StreamClients(NO_LIMITS)
    clients.record_end(KEY, client("one"), 7)
    clients.record_end(KEY, client("one"), 0)
    assert missed(clients, "one", b"6") is Missed.LAST


def test_a_client_without_a_connection_id_is_not_remembered() -> None:
    clients = StreamClients(NO_LIMITS)
    clients.record_end(KEY, client(""), 7)
    assert missed(clients, "") is Missed.NOTHING


def test_the_clients_whose_streams_ended_last_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_clients, "REMEMBERED", 2)
    clients = StreamClients(NO_LIMITS)
    for connection in ("one", "two", "one", "three"):
        clients.record_end(KEY, client(connection), 7)
    assert [missed(clients, connection) for connection in ("one", "two", "three")] == [
        Missed.ALL,
        Missed.NOTHING,
        Missed.ALL,
    ]
