"""ingest.sites.robots: robots.txt as RFC 9309 has it."""

from __future__ import annotations

import asyncio

import pytest

from ingest.errors import Blocked, FetchFailed
from ingest.ports import Fetched
from ingest.sites.robots import RobotsFiles, RobotsRules, robots_url, sitemaps_in

TEXT = """\ufeff
User-agent: *
Disallow: /private/
Allow: /private/open
Crawl-delay: 2

User-agent: ritbot
Disallow: /for-others-only/

Sitemap: https://a.test/map.xml
Sitemap: /other.xml
"""


def fetched(text: str, status: int = 200) -> Fetched:
    return Fetched("https://a.test/robots.txt", status, text.encode())


def test_the_group_that_names_the_agent_counts_instead_of_the_general_one() -> None:
    anyone, ritbot = RobotsRules(fetched(TEXT), "otherbot"), RobotsRules(fetched(TEXT), "ritbot")
    assert not anyone.allows("https://a.test/private/x")
    assert anyone.allows("https://a.test/private/open/x")
    assert ritbot.allows("https://a.test/private/x")
    assert not ritbot.allows("https://a.test/for-others-only/")


@pytest.mark.parametrize(("line", "delay"), [("2.5", 2.5), ("9999", 30.0), ("-1", 0.0), ("soon", 0.0)])
def test_a_crawl_delay_is_kept_within_reason(line: str, delay: float) -> None:
    assert RobotsRules(fetched(f"User-agent: *\nCrawl-delay: {line}"), "ritbot").crawl_delay == delay


@pytest.mark.parametrize("status", [301, 401, 403, 404, 410])
def test_an_answer_that_is_no_file_means_no_rules(status: int) -> None:
    assert RobotsRules(fetched("User-agent: *\nDisallow: /", status), "ritbot").allows("https://a.test/x")


@pytest.mark.parametrize("body", ["", "<!doctype html><title>Not found</title>", "\0\xff binary"])
def test_a_file_without_rules_allows_all(body: str) -> None:
    assert RobotsRules(fetched(body), "ritbot").allows("https://a.test/x")


def test_sitemap_lines_are_given_as_written() -> None:
    assert sitemaps_in(fetched(TEXT)) == ["https://a.test/map.xml", "/other.xml"]


def test_it_stands_at_the_root_of_the_host_and_port() -> None:
    assert robots_url("http://a.test:8000/docs/a.html?x#y") == "http://a.test:8000/robots.txt"


class Server:
    def __init__(self, answer: str | FetchFailed) -> None:
        self.answer = answer
        self.asked: list[str] = []

    async def get(self, url: str) -> Fetched:
        self.asked.append(url)
        await asyncio.sleep(0)
        if isinstance(self.answer, FetchFailed):
            raise self.answer
        return fetched(self.answer)


async def test_it_is_fetched_once_for_a_host_even_by_many_at_once() -> None:
    server = Server("User-agent: *\nDisallow: /x")
    files = RobotsFiles(server.get, "ritbot")
    rules = await asyncio.gather(*(files.rules(f"https://a.test/{n}") for n in range(5)))
    assert (await files.file("https://a.test/robots.txt")).status == 200
    assert server.asked == ["https://a.test/robots.txt"]
    assert not any(each.allows("https://a.test/x") for each in rules)
    await files.rules("https://b.test/")
    assert server.asked == ["https://a.test/robots.txt", "https://b.test/robots.txt"]


async def test_one_that_cannot_be_read_forbids_all_for_this_run() -> None:
    server = Server(FetchFailed("it answered with status 503", 9))
    files = RobotsFiles(server.get, "ritbot")
    for _ in range(2):
        with pytest.raises(FetchFailed, match=r"Nothing is fetched from a\.test.*503.*obey_robots") as caught:
            await files.rules("https://a.test/page")
        assert caught.value.retry_after == 9
    assert len(server.asked) == 1


async def test_a_blocked_host_is_reported_as_blocked_and_not_as_a_fault_of_robots_txt() -> None:
    files = RobotsFiles(Server(Blocked("a.test is in a private network")).get, "ritbot")
    for _ in range(2):
        with pytest.raises(Blocked, match=r"^a\.test is in a private network$"):
            await files.rules("https://a.test/page")


async def test_giving_up_on_the_first_request_leaves_nothing_half_done() -> None:
    server = Server("")
    files = RobotsFiles(server.get, "ritbot")
    first = asyncio.create_task(files.rules("https://a.test/"))
    await asyncio.sleep(0)
    first.cancel()
    assert (await files.rules("https://a.test/")).allows("https://a.test/")
    assert len(server.asked) == 2
