"""`flagstaff doctor` asks through the public URL whether browsers get HTTP/2, and never waits long for an answer."""

import asyncio
import json
import socket
from pathlib import Path

from flagstaff.cli.doctor.findings import Finding, Status
from flagstaff.cli.doctor.http2_check import check_http2
from tests.support.command import run_flagstaff
from tests.support.nginx import DocumentedNginx
from tests.support.ports import free_port

NAME = "localhost"


async def examine(folder: Path, port: int, authority: Path | None) -> Finding:
    """What the command finds at this port, as a machine that trusts the authority."""
    environ = {
        "FLAGSTAFF_DATA_DIR": str(folder / "data"),
        "FLAGSTAFF_PUBLIC_URL": f"https://{NAME}:{port}",
        **({"SSL_CERT_FILE": str(authority)} if authority else {}),
    }
    outcome = await asyncio.to_thread(run_flagstaff, "doctor", "--json", environ=environ)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert "Traceback" not in outcome.stderr
    found = next(each for each in json.loads(outcome.stdout) if each["check"] == "HTTP/2")
    return Finding(**{**found, "status": Status(found["status"])})


async def test_a_url_that_cannot_be_reached_is_worth_a_warning(tmp_path: Path) -> None:
    found = await examine(tmp_path, free_port(), None)
    assert found.status is Status.WARN
    assert "cannot be reached from this machine" in found.found
    assert "run this command where they do" in found.advice


async def test_a_name_without_an_address_is_worth_a_warning() -> None:
    found = await check_http2("https://nowhere.invalid")
    assert found is not None
    assert (found.status, "cannot be reached" in found.found) == (Status.WARN, True)


async def test_a_server_that_never_answers_is_not_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        found = await check_http2(f"https://127.0.0.1:{silent.getsockname()[1]}", timeout_seconds=0.1)
    assert found is not None
    assert found.found.endswith("no answer within 0.1 seconds")


async def test_a_server_without_tls_is_worth_a_warning() -> None:
    async def refuse(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        found = await check_http2(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    assert found is not None
    assert (found.status, "cannot be reached" in found.found) == (Status.WARN, True)


async def test_a_certificate_that_is_not_trusted_is_worth_a_warning(tmp_path: Path) -> None:
    async with DocumentedNginx(tmp_path, free_port(), name=NAME) as proxy:
        found = await examine(tmp_path, proxy.port, None)
    assert (found.status, "does not trust the certificate" in found.found) == (Status.WARN, True)
    assert "SSL_CERT_FILE" in found.advice


async def test_a_proxy_without_http2_is_worth_a_warning(tmp_path: Path) -> None:
    async with DocumentedNginx(tmp_path, free_port(), (" http2;", ";"), name=NAME) as proxy:
        found = await examine(tmp_path, proxy.port, proxy.authority.path)
    assert found.status is Status.WARN
    assert "offers only HTTP/1.1, with which a browser opens six connections" in found.found
    assert "Turn HTTP/2 on in the proxy" in found.advice


async def test_the_documented_proxy_offers_it(tmp_path: Path) -> None:
    async with DocumentedNginx(tmp_path, free_port(), name=NAME) as proxy:
        found = await examine(tmp_path, proxy.port, proxy.authority.path)
    assert found == Finding("HTTP/2", Status.OK, f"https://{NAME}:{proxy.port} offers it")


async def test_a_url_without_tls_is_not_asked() -> None:
    assert await check_http2("http://flags.example.com") is None
