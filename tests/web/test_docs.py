"""GET /docs: a page to browse the API, which loads nothing from other hosts."""

import asyncio
import re
from pathlib import Path

import httpx

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller
from tests.support.holds import ask, watch_holds


async def test_files_outside_its_folder_are_not_served(client: Caller) -> None:
    for name in ("", "../__init__.py", "%2e%2e/__init__.py", "..%2f__init__.py", "/etc/passwd", "%00", "x" * 4_000):
        answer = await client.get(f"/docs/assets/{name}")
        assert answer.status_code == 404, name


async def test_a_file_can_only_be_read(client: Caller) -> None:
    answer = await client.post("/docs/assets/swagger-ui.css")

    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, HEAD"


async def test_the_page_and_all_that_it_names_come_from_here(client: Caller) -> None:
    page = await client.get("/docs")

    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    named = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(named) == 3
    for path in named:
        assert path.startswith("docs/")  # relative, so that it is below the path prefix
        assert (await client.get(page.url.join(path))).status_code == 200
    assert not re.search(r"https?://", page.text)


async def test_a_document_is_compressed_once_for_all_who_accept_it(client: Caller) -> None:
    for path in ("/openapi.json", "/docs/assets/swagger-ui-bundle.js"):
        plain = await client.get(path, headers={"accept-encoding": "identity"})
        compressed = await client.get(path, headers={"accept-encoding": "gzip"})
        assert "content-encoding" not in plain.headers
        assert compressed.headers["content-encoding"] == "gzip"
        assert compressed.content == plain.content  # the client has decompressed it
        assert int(compressed.headers["content-length"]) < len(plain.content) / 2
        assert plain.headers["etag"] == compressed.headers["etag"]
        assert plain.headers["vary"] == compressed.headers["vary"] == "Accept-Encoding"
        again = await client.get(path, headers={"if-none-match": compressed.headers["etag"]})
        assert (again.status_code, again.headers["etag"]) == (304, compressed.headers["etag"])


async def test_a_client_that_accepts_encodings_in_two_headers_gets_a_compressed_document(client: Caller) -> None:
    two = httpx.Headers([("accept-encoding", "identity"), ("accept-encoding", "gzip")])
    answer = await client.get("/openapi.json", headers=two)
    assert (answer.headers["content-encoding"], answer.headers["vary"]) == ("gzip", "Accept-Encoding")


async def test_head_gets_the_headers_of_a_document(client: Caller) -> None:
    plain = {"accept-encoding": "identity"}
    document = await client.get("/openapi.json", headers=plain)
    head = await client.request("HEAD", "/openapi.json", headers=plain)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == document.headers["content-length"]


async def test_a_document_for_clients_that_accept_no_encoding_is_decompressed_in_pieces(flagstaff: Flagstaff) -> None:
    path = "/docs/assets/swagger-ui-bundle.js"
    await ask(flagstaff.edge.asgi, "GET", path)
    async with watch_holds() as holds:
        status, length = await ask(flagstaff.edge.asgi, "GET", path)
    assert (status, length > 1_000_000) == (200, True)
    assert holds.looks > 2
    assert holds.longest_in_units < 5


def open_files() -> list[Path]:
    return [each.readlink() for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]


async def test_no_file_stays_open_for_a_client_that_reads_slowly(flagstaff: Flagstaff) -> None:
    for path in ("/docs/assets/swagger-ui-bundle.js", "/docs/assets/swagger-ui.css"):
        go_on, began = asyncio.Event(), asyncio.Semaphore(0)

        async def linger(began: asyncio.Semaphore = began, go_on: asyncio.Event = go_on) -> None:
            began.release()
            if began._value > 1:  # the head has been taken, the body not yet
                await go_on.wait()

        slow = asyncio.create_task(ask(flagstaff.edge.asgi, "GET", path, linger=linger))
        async with asyncio.timeout(10):
            while began._value < 2:
                await asyncio.sleep(0)
        assert not [path for path in open_files() if "swagger" in path.name]
        go_on.set()
        assert (await slow)[0] == 200


async def test_a_part_of_a_file_is_not_served(client: Caller) -> None:
    for wanted in ("bytes=0-9", "bytes=5-1", "lines=1", "bytes=99999999-"):
        answer = await client.get("/docs/assets/swagger-ui.css", headers={"range": wanted})
        assert answer.status_code == 200


async def test_the_page_draws_the_document_that_is_served(client: Caller) -> None:
    start = await client.get("/docs/start.js")

    assert 'url: "openapi.json"' in start.text
    assert (await client.get("/openapi.json")).json()["info"]["title"] == "Flagstaff"
