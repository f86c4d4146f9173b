"""Sending messages: allowed addresses and ports, one resolution, certificates, and proxies."""

import asyncio
import ssl
import threading
from base64 import b64decode
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from ipaddress import ip_network
from pathlib import Path

import pytest

from flagstaff.hooks.client.addresses import Reach, read_address
from flagstaff.hooks.client.answers import SendError
from flagstaff.hooks.client.client import WebhookClient
from flagstaff.hooks.client.resolver import THREADS_MAX, Resolver
from flagstaff.hooks.client.tls import Tls
from flagstaff.settings.webhooks import Proxy, parse_ports, parse_proxy
from tests.support.certificates import Authority
from tests.support.receiver import Receiver, response

LOOPBACK = (ip_network("127.0.0.0/8"),)


class Names:
    """The results of resolving a name: a list of addresses for each time."""

    def __init__(self, *addresses: list[str]) -> None:
        self.asked = 0
        self._addresses = addresses

    def __call__(self, host: str, port: int) -> list[str]:  # noqa: ARG002
        self.asked += 1
        return self._addresses[min(self.asked, len(self._addresses)) - 1]


async def post(client: WebhookClient, url: str) -> int:
    try:
        return (await client.send(url, {"webhook-id": "m"}, b"{}")).status
    finally:
        await client.close()


@pytest.mark.parametrize(
    "addresses", [["93.184.215.14", "10.0.0.1"], ["10.0.0.1", "93.184.215.14"], ["::ffff:10.0.0.1"], ["fe80::1%eth0"]]
)
async def test_a_name_with_one_address_inside_is_refused(addresses: list[str]) -> None:
    client = WebhookClient(Reach(), resolver=Resolver(Names(addresses)))
    with pytest.raises(SendError, match="which is not public"):
        await post(client, "https://hooks.example/")


async def test_a_name_that_leads_elsewhere_later_is_resolved_once_for_a_connection() -> None:
    async with Receiver() as receiver:
        names = Names(["127.0.0.1"], ["10.0.0.1"])
        client = WebhookClient(Reach(LOOPBACK), resolver=Resolver(names))
        assert await post(client, f"http://hooks.example:{receiver.port}/") == 200
        assert names.asked == 1
        with pytest.raises(SendError, match=r"10\.0\.0\.1, which is not in"):
            await post(client, f"http://hooks.example:{receiver.port}/")


async def test_ports_that_are_not_allowed_are_refused_before_anything_is_resolved() -> None:
    names = Names(["127.0.0.1"])
    client = WebhookClient(Reach(LOOPBACK, parse_ports("80,443,8000-8999")), resolver=Resolver(names))
    with pytest.raises(SendError, match="The port 25 is not in FLAGSTAFF_WEBHOOK_PORTS"):
        await post(client, "http://hooks.example:25/")
    assert names.asked == 0


async def test_names_that_are_never_resolved_hold_up_only_so_many() -> None:
    answered = asyncio.Event()
    loop = asyncio.get_running_loop()

    def never(host: str, port: int) -> list[str]:
        asyncio.run_coroutine_threadsafe(answered.wait(), loop).result()
        return ["127.0.0.1"]

    resolver = Resolver(never)
    waiting = [asyncio.ensure_future(resolver.resolve(f"host-{number}", 1)) for number in range(THREADS_MAX + 1)]
    try:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(waiting[-1]), 0.2)
        assert sum(each.name == "webhook-name" for each in threading.enumerate()) == THREADS_MAX
    finally:
        answered.set()
    assert await asyncio.gather(*waiting) == [["127.0.0.1"]] * (THREADS_MAX + 1)


@pytest.mark.parametrize(
    "value", ["Mon, 01 Jan 99999999999 00:00:00 GMT", "Fri, 20 Nov 2099 99:99:99 +9999", "-1", "x"]
)
async def test_a_retry_after_that_cannot_be_read_is_ignored(value: str) -> None:
    async with Receiver() as receiver:
        receiver.answer = lambda _: response(503, retry_after=value)
        client = WebhookClient(Reach(LOOPBACK))
        try:
            answer = await client.send(receiver.url, {"webhook-id": "m"}, b"{}")
        finally:
            await client.close()
        assert (answer.status, answer.retry_after_seconds) == (503, None)


FLOOD = 100_000


@pytest.mark.parametrize(
    "flood",
    [
        b"HTTP/1.1 103 Early Hints\r\n\r\n" * FLOOD,
        b"HTTP/1.1 200 OK\r\n" + b"a:b\r\n" * FLOOD,
        b"HTTP/1.1 200 OK\r\na:" + b"b" * FLOOD,
    ],
    ids=["interim responses", "headers", "a header"],
)
@pytest.mark.parametrize("has_tls", [False, True])
async def test_a_response_that_does_not_begin_within_its_bound_is_a_failure(
    flood: bytes, has_tls: bool, tmp_path: Path
) -> None:
    authority = Authority(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*authority.issue("localhost"))
    async with Receiver(context if has_tls else None) as receiver:
        receiver.answer = lambda _: flood
        url = f"https://localhost:{receiver.port}/" if has_tls else receiver.url
        client = WebhookClient(Reach((*LOOPBACK, ip_network("::1/128"))), Tls(authority.path))
        with pytest.raises(SendError, match=r"^No response: The response has more than 16,384 bytes or 500 lines"):
            await post(client, url)


async def test_a_body_in_many_pieces_is_read_as_far_as_its_bound() -> None:
    async with Receiver() as receiver:
        receiver.answer = lambda _: b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * FLOOD
        client = WebhookClient(Reach(LOOPBACK))
        try:
            answer = await client.send(receiver.url, {"webhook-id": "m"}, b"{}")
        finally:
            await client.close()
    assert answer.status == 200
    assert 200 < len(answer.text) < 1024
    assert set(answer.text) == {"x"}


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.1", "127.0.0.1"),
        ("0x7f000001", "127.0.0.1"),
        ("017700000001", "127.0.0.1"),
        ("2130706433", "127.0.0.1"),
        ("127.0.0.1.", "127.0.0.1"),
        ("[::1]", "::1"),
        ("hooks.example", None),
        ("7f000001.example", None),
    ],
)
def test_every_spelling_of_an_address_is_read_as_one(host: str, address: str | None) -> None:
    found = read_address(host)
    assert (str(found) if found else None) == address


async def test_receivers_with_an_own_authority_are_shown_a_client_certificate(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    certificate, key = authority.issue("localhost")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=authority.path)
    context.load_cert_chain(certificate, key)
    context.verify_mode = ssl.CERT_REQUIRED
    shown = authority.issue("flagstaff")
    async with Receiver(context) as receiver:
        url = f"https://localhost:{receiver.port}/"
        reach = Reach((*LOOPBACK, ip_network("::1/128")))
        for tls, reason in (
            (Tls(), "CERTIFICATE_VERIFY_FAILED"),
            (Tls(authority.path), "No response"),  # the receiver requires a certificate
        ):
            with pytest.raises(SendError, match=reason):
                await post(WebhookClient(reach, tls), url)
        assert await post(WebhookClient(reach, Tls(authority.path, *shown)), url) == 200


def test_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    certificate, _ = authority.issue("a")
    _, other_key = authority.issue("b")
    empty = tmp_path / "empty.pem"
    empty.touch()
    for tls, message in (
        (Tls(empty), "FLAGSTAFF_WEBHOOK_AUTHORITIES has no certificates"),
        (Tls(None, certificate, other_key), "must be in PEM, belong together"),
        (Tls(None, None, other_key), "FLAGSTAFF_WEBHOOK_CLIENT_KEY is set without"),
    ):
        with pytest.raises(ValueError, match=message):
            tls.context  # noqa: B018


@asynccontextmanager
async def open_proxy(seen: list[tuple[str, str]], *, refuses: bool = False) -> AsyncIterator[int]:
    """A proxy that forwards plain requests and refuses or opens tunnels; it records first lines and credentials."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        line, *headers = head.strip().split("\r\n")
        given = [each.partition(": ")[2] for each in headers if each.lower().startswith("proxy-authorization: basic")]
        seen.append((line, b64decode(given[0].split()[1]).decode() if given else ""))
        writer.write(b"HTTP/1.1 403 Forbidden\r\n\r\n" if refuses else b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def test_a_proxy_gets_the_messages_and_no_addresses_inside() -> None:
    seen: list[tuple[str, str]] = []
    async with open_proxy(seen, refuses=True) as port:
        proxy = parse_proxy(f"http://flags:p%40ss@127.0.0.1:{port}")
        networks = (ip_network("192.0.2.0/24"),)
        make: Callable[[], WebhookClient] = lambda: WebhookClient(Reach(networks, proxy=proxy))  # noqa: E731
        with pytest.raises(SendError, match="The proxy refuses: 403"):
            await post(make(), "https://hooks.example/in")
        assert seen == [("CONNECT hooks.example:443 HTTP/1.1", "flags:p@ss")]
        for url in ("https://127.1/", "https://0x7f000001/", "http://[::1]/", "http://hooks.example/"):
            with pytest.raises(SendError, match="FLAGSTAFF_WEBHOOK_NETWORKS"):
                await post(make(), url)
        assert len(seen) == 1
    async with open_proxy(seen) as port:
        plain = WebhookClient(Reach(networks, proxy=Proxy(f"http://127.0.0.1:{port}", None, None)))
        assert await post(plain, "http://192.0.2.7/in") == 200
    assert seen[1:] == [("POST http://192.0.2.7/in HTTP/1.1", "")]


async def test_tls_that_fails_behind_a_proxy_holds_up_no_other_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flagstaff.hooks.client.client._CONNECTIONS_MAX", 2)
    seen: list[tuple[str, str]] = []
    async with open_proxy(seen) as port:  # it does not answer the TLS handshake
        client = WebhookClient(Reach(LOOPBACK, proxy=Proxy(f"http://127.0.0.1:{port}", None, None)))
        for number in range(5):
            with pytest.raises(SendError, match=r"^No response: "):
                await client.send(f"https://hooks-{number}.example/", {"webhook-id": "m"}, b"{}")
        await client.close()
    assert len(seen) == 5


@pytest.mark.parametrize("text", ["", "proxy:3128", "socks5://proxy", "http://", "http://proxy/path", "http://proxy:x"])
def test_what_is_no_proxy_is_refused_without_showing_it(text: str) -> None:
    with pytest.raises(ValueError, match=r"^must be the URL of a proxy, such as http://user"):
        parse_proxy(text)


@pytest.mark.parametrize("text", ["x", "0", "65536", "90-80", "1-", "-5", "80;443"])
def test_what_are_no_ports_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"must be a comma-separated list of ports|whose end is before its start"):
        parse_ports(text)
