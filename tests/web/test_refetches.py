"""Browsers' clients that have flags and fetch them again: the share of each, and what all behind an address may do."""

import asyncio
from typing import Any

import httpx
import pytest

from tests.support.api import Caller, Json, flag_path
from tests.support.sdk_keys import KeyMaker
from tests.web.conftest import Call
from tests.web.test_sdk_limits import statuses

OFREP = "/ofrep/v1/evaluate/flags?stream=sse"
FRONTEND = "/unleash/api/frontend"
LIMIT = {"FLAGSTAFF_BROWSER_RATE_LIMIT": "2/minute"}
both_protocols = pytest.mark.parametrize("path", [OFREP, FRONTEND])


@pytest.fixture
async def browser_key(keys: KeyMaker, environment: Json) -> str:
    return await keys.create(environment, kind="browser")


@pytest.fixture
async def flag(ada: Caller, environment: Json) -> Json:
    return await ada.create_flag(environment, key="checkout")


async def toggle(ada: Caller, flag: Json) -> None:
    assert (await ada.post(f"{flag_path(flag)}/toggle")).status_code == 200


class Page:
    """A page in a browser. Its client sends back the tag of its last answer."""

    def __init__(self, caller: httpx.AsyncClient, path: str, key: str) -> None:
        self.caller = caller
        self._path = path
        self._headers = {"authorization": f"Bearer {key}"}
        self.tag: str | None = None
        self.flags: Any = None

    async def fetch(self) -> httpx.Response:
        headers = {**self._headers, **({"if-none-match": self.tag} if self.tag else {})}
        await asyncio.sleep(0)  # a request within the process may wait for nothing, and the server has other work
        answer = await self.caller.post(self._path, json={}, headers=headers)
        if answer.status_code == 200:
            self.tag, self.flags = answer.headers["etag"], answer.json()
        return answer


@pytest.mark.both_databases
@both_protocols
@pytest.mark.parametrize("environ", [LIMIT])
async def test_a_page_that_has_flags_gets_a_change_when_its_address_may_open_no_more_pages(
    call_from: Call, ada: Caller, flag: Json, browser_key: str, path: str
) -> None:
    caller = call_from("192.0.2.7")
    pages = [Page(caller, path, browser_key) for _ in range(3)]
    assert statuses([await page.fetch() for page in pages]) == [200, 200, 429]
    for _ in range(3):
        await toggle(ada, flag)
        before = pages[0].flags
        assert statuses([await page.fetch() for page in pages]) == [200, 200, 429]
        assert pages[0].flags != before


@both_protocols
@pytest.mark.parametrize("environ", [LIMIT])
async def test_a_page_fetches_ten_times_a_change_and_then_counts_as_others_do(
    call_from: Call, ada: Caller, flag: Json, browser_key: str, path: str
) -> None:
    page = Page(call_from("192.0.2.7"), path, browser_key)
    await page.fetch()
    same = 304 if path == OFREP else 200
    assert statuses([await page.fetch() for _ in range(12)]) == [same] * 11 + [429]
    await toggle(ada, flag)
    assert statuses([await page.fetch() for _ in range(11)]) == [200] + [same] * 9 + [429]


@pytest.mark.parametrize("environ", [LIMIT])
async def test_the_fetches_of_all_pages_behind_an_address_are_bounded(
    call_from: Call, ada: Caller, flag: Json, browser_key: str
) -> None:
    caller = call_from("192.0.2.7")
    pages = [Page(caller, OFREP, browser_key) for _ in range(2)]
    for page in pages:
        await page.fetch()
    assert statuses([await page.fetch() for page in pages for _ in range(10)]) == [304] * 20
    await toggle(ada, flag)
    assert statuses([await page.fetch() for page in pages]) == [429, 429]
    other = Page(call_from("198.51.100.1"), OFREP, browser_key)
    assert statuses([await other.fetch() for _ in range(3)]) == [200, 304, 304]


@pytest.mark.parametrize("environ", [LIMIT])
@both_protocols
async def test_a_tag_that_the_server_has_not_sent_counts_as_a_page_that_opens(
    call_from: Call, ada: Caller, flag: Json, browser_key: str, path: str
) -> None:
    page = Page(call_from("192.0.2.7"), path, browser_key)
    await page.fetch()
    await toggle(ada, flag)
    assert page.tag is not None
    sent, name = page.tag, page.tag[-33:-1]
    forged = [sent.replace(name, each) for each in ("0" * 32, name[::-1], name[:-1], "")]
    answers = []
    for page.tag in forged:
        answers.append(await page.fetch())
    assert statuses(answers) == [200, 429, 429, 429]
    page.tag = sent
    assert statuses([await page.fetch()]) == [200]


@pytest.mark.parametrize("environ", [LIMIT])
async def test_what_pages_of_unleashs_clients_report_does_not_count_as_fetches(
    call_from: Call, flag: Json, browser_key: str
) -> None:
    caller, headers = call_from("192.0.2.7"), {"authorization": browser_key}
    report = {"appName": "shop", "bucket": {"start": "a", "stop": "b", "toggles": {}}}
    reports = [await caller.post(f"{FRONTEND}/client/metrics", json=report, headers=headers) for _ in range(3)]
    assert statuses(reports) == [200, 200, 429]
    page = Page(caller, FRONTEND, browser_key)
    assert statuses([await page.fetch(), await page.fetch()]) == [200, 200]


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_BROWSER_RATE_LIMIT": "1/minute"}])
async def test_pages_that_have_to_wait_are_told_to_come_back_at_different_times(
    call_from: Call, flag: Json, browser_key: str
) -> None:
    caller = call_from("192.0.2.7")
    await Page(caller, OFREP, browser_key).fetch()
    waits = {int((await Page(caller, OFREP, browser_key).fetch()).headers["retry-after"]) for _ in range(100)}
    assert len(waits) > 5
    assert min(waits) >= 55
    assert max(waits) <= 60 + 15


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_BROWSER_RATE_LIMIT": "off"}])
async def test_without_the_limit_nothing_is_counted(call_from: Call, ada: Caller, flag: Json, browser_key: str) -> None:
    page = Page(call_from("192.0.2.7"), OFREP, browser_key)
    assert statuses([await page.fetch() for _ in range(30)]) == [200] + [304] * 29
    await toggle(ada, flag)
    assert statuses([await page.fetch()]) == [200]


@pytest.mark.both_databases
async def test_by_default_three_hundred_pages_behind_an_address_open_in_a_minute_and_all_see_a_kill(
    call_from: Call, ada: Caller, flag: Json, browser_key: str
) -> None:
    caller = call_from("192.0.2.7")
    pages = [Page(caller, OFREP, browser_key) for _ in range(300)]
    assert statuses([await page.fetch() for page in pages]) == [200] * 300
    for _ in range(5):
        await toggle(ada, flag)
        assert statuses([await page.fetch() for page in pages]) == [200] * 300
    assert {page.flags["flags"][0]["value"] for page in pages} == {False}
