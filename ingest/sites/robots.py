"""robots.txt as RFC 9309 has it: fetched once for each host and run, obeyed before every request."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from urllib.parse import urljoin, urlsplit

from protego import Protego

from ingest.errors import Blocked, FetchFailed, Unreachable
from ingest.ports import Fetched

MAX_ROBOTS_BYTES = 500 * 1024
"""So much of a robots.txt is read, and the rest is left (RFC 9309 section 2.5)."""
_MAX_CRAWL_DELAY_SECONDS = 30.0


def robots_url(url: str) -> str:
    """Where the rules for `url` are."""
    return urljoin(url, "/robots.txt")


class RobotsRules:
    """What one robots.txt says to `agent` (a product token such as "ritbot")."""

    def __init__(self, fetched: Fetched, agent: str) -> None:
        self._rules = _parse(fetched)
        self._agent = agent

    def allows(self, url: str) -> bool:
        return self._rules.can_fetch(url, self._agent)

    @property
    def crawl_delay(self) -> float:
        """Seconds between requests; 0 where it says nothing, never more than 30."""
        return min(max(self._rules.crawl_delay(self._agent) or 0.0, 0.0), _MAX_CRAWL_DELAY_SECONDS)


def sitemaps_in(fetched: Fetched) -> list[str]:
    """The Sitemap lines of a robots.txt, as written."""
    return list(_parse(fetched).sitemaps)


def _parse(fetched: Fetched) -> Protego:
    """Any answer but 200 (404, 403 …) means that there are no rules (section 2.3.1.3)."""
    return Protego.parse(
        fetched.body[:MAX_ROBOTS_BYTES].decode("utf-8-sig", "replace") if fetched.status == 200 else ""
    )


class RobotsFiles:
    """The robots.txt of every host that is asked for, each fetched once, whoever asks."""

    def __init__(self, get: Callable[[str], Awaitable[Fetched]], agent: str) -> None:
        self._get = get
        self._agent = agent
        self._loading = asyncio.Lock()
        self._files: dict[str, Fetched | FetchFailed] = {}
        self._rules: dict[str, RobotsRules] = {}

    async def file(self, url: str) -> Fetched:
        """The robots.txt beside `url`. Raises FetchFailed, each time again, if it could not be had."""
        address = robots_url(url)
        async with self._loading:
            if address not in self._files:
                try:
                    self._files[address] = await self._get(address)
                except FetchFailed as failure:
                    self._files[address] = failure
        found = self._files[address]
        if isinstance(found, FetchFailed):
            raise type(found)(str(found), found.retry_after) from found
        return found

    async def rules(self, url: str) -> RobotsRules:
        """Raises FetchFailed: a robots.txt that cannot be read forbids all (section 2.3.1.4). Raises Blocked and
        Unreachable where its host may not, or cannot, be asked at all."""
        address = robots_url(url)
        if address not in self._rules:
            try:
                self._rules[address] = RobotsRules(await self.file(url), self._agent)
            except (Blocked, Unreachable):
                raise
            except FetchFailed as failure:
                host = urlsplit(url).netloc
                raise FetchFailed(
                    f"Nothing is fetched from {host}, since its robots.txt could not be read: {failure}. Try again"
                    " later; if the site is your own, obey_robots = false goes on without.",
                    failure.retry_after,
                ) from failure
        return self._rules[address]
