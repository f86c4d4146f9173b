"""GET /docs: a page to browse the API, which loads nothing from other hosts."""

import re

from tests.support.api import Caller


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
        assert path.startswith("/docs/")
        assert (await client.get(path)).status_code == 200
    assert not re.search(r"https?://", page.text)


async def test_the_page_draws_the_document_that_is_served(client: Caller) -> None:
    start = await client.get("/docs/start.js")

    assert '"/openapi.json"' in start.text
    assert (await client.get("/openapi.json")).json()["info"]["title"] == "Flagstaff"
