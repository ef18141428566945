"""The Fetcher of a site on the web: to the site's hosts and nowhere else, as robots.txt allows, in turn,
again after failures that pass.

The order before every request, redirects too: is the host the site's own, does robots.txt allow it, is
it our turn; the address is checked when the connection is made (guard).
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Self
from urllib.parse import urlsplit

import httpx

from ingest.errors import Blocked, FetchFailed, SiteUnusable, Unreachable
from ingest.model import Site
from ingest.ports import Fetched
from ingest.retry import RetryPolicy, Sleep, retry_after, retrying
from ingest.sites.http_exchange import HttpExchange, NotConnected, Transient
from ingest.sites.politeness import MAX_WAIT_SECONDS, Politeness
from ingest.sites.robots import MAX_ROBOTS_BYTES, RobotsFiles, robots_url
from ingest.sites.scope import on_site
from ingest.urls import resolve

MAX_HOPS = 10
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_TOO_MANY_REQUESTS = 429


class HttpFetcher:
    """One for each site and run: robots.txt is read once for each host. Open with `async with`.

    `user_agent` begins with the product token by which robots.txt names us ("ritbot/1.0 (+mailto:…)").
    `transport` takes the place of the network, `sleep` and `monotonic` that of the clock; `attempts` counts
    the first one too.
    """

    def __init__(
        self,
        site: Site,
        *,
        user_agent: str,
        transport: httpx.AsyncBaseTransport | None = None,
        rng: random.Random | None = None,
        sleep: Sleep = asyncio.sleep,
        monotonic: Callable[[], float] = time.monotonic,
        attempts: int = 4,
    ) -> None:
        self._site = site
        self._exchange = HttpExchange(site, user_agent, transport)
        self._rng = rng or random.Random()
        self._sleep = sleep
        self._retries = RetryPolicy(attempts, pause=0.5, asked=MAX_WAIT_SECONDS)
        self._politeness = Politeness(site.concurrency, site.delay, sleep=sleep, monotonic=monotonic)
        read_robots = partial(self._follow, headers={}, obey=False, read_bytes=MAX_ROBOTS_BYTES)
        self._robots = RobotsFiles(read_robots, user_agent.partition("/")[0].strip())

    async def __aenter__(self) -> Self:
        """Raises SiteUnusable if the site's start holds a password, or its CA file or proxy cannot be used."""
        if "@" in urlsplit(self._site.start).netloc:
            raise SiteUnusable(
                f"start of site {self._site.name} holds a user name or a password; leave it out, since addresses are shown,"
                " and set headers for this site instead: Authorization, with its value from the environment"
            )
        await self._exchange.__aenter__()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._exchange.__aexit__(*exc)

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> Fetched:
        """As the port says; names of `headers` are lower case. A robots.txt comes from this run's memory."""
        url = self._own(url)
        if url == robots_url(url):
            return await self._robots.file(url)
        conditions = {"If-None-Match": etag, "If-Modified-Since": last_modified}
        return await self._follow(url, {name: value for name, value in conditions.items() if value})

    async def _follow(
        self, url: str, headers: Mapping[str, str], *, obey: bool = True, read_bytes: int | None = None
    ) -> Fetched:
        hops: list[tuple[str, int]] = []
        while True:
            crawl_delay = await self._permitted(url) if obey and self._site.obey_robots else 0.0
            fetched = await self._persist(url, headers, crawl_delay, read_bytes)
            location = fetched.headers.get("location")
            if fetched.status not in _REDIRECTS or not location:
                return replace(fetched, hops=tuple(hops))
            hops.append((url, fetched.status))
            url = self._own(location, base=url)
            if any(url == seen for seen, _ in hops):
                raise FetchFailed(f"{hops[0][0]} redirects in a circle, by way of {url}")
            if len(hops) > MAX_HOPS:
                raise FetchFailed(f"{hops[0][0]} redirects more than {MAX_HOPS} times")

    def _own(self, url: str, base: str | None = None) -> str:
        """`url` (a redirect's target where `base` is given) made absolute. Raises Blocked off the site."""
        absolute = resolve(base or url, url)
        if absolute and on_site(self._site, absolute):
            return absolute.partition("#")[0]
        if base is None:
            raise Blocked(
                f"{url} is not on the hosts of site {self._site.name}; add its host to hosts if it belongs there"
            )
        target = urlsplit(absolute).netloc if absolute else url
        raise Blocked(
            f"{base} redirects to {target}, which is not one of the hosts of site {self._site.name}; start there instead,"
            " or add it to hosts"
        )

    async def _permitted(self, url: str) -> float:
        """The crawl delay that robots.txt asks for. Raises Blocked if it forbids the URL."""
        rules = await self._robots.rules(url)
        if not rules.allows(url):
            raise Blocked(f"{robots_url(url)} does not allow {url}; if the site is your own, set obey_robots = false")
        return rules.crawl_delay

    async def _persist(
        self, url: str, headers: Mapping[str, str], crawl_delay: float, read_bytes: int | None
    ) -> Fetched:
        """Try until there is an answer that is neither 429 nor 5xx, or the attempts are used up."""
        tries = 0

        async def attempt() -> Fetched:
            nonlocal tries
            tries += 1
            return await self._attempt(url, headers, crawl_delay, read_bytes)

        try:
            return await retrying(attempt, self._retries, _asked, sleep=self._sleep, chance=self._rng.random)
        except Transient as failure:
            told = f"{failure}, in {tries} attempts" if tries > 1 else str(failure)
            kind = Unreachable if isinstance(failure, NotConnected) else FetchFailed
            raise kind(told, failure.retry_after) from failure

    async def _attempt(
        self, url: str, headers: Mapping[str, str], crawl_delay: float, read_bytes: int | None
    ) -> Fetched:
        host = urlsplit(url).netloc
        async with self._politeness.turn(host, crawl_delay):
            fetched = await self._exchange.get(url, headers, read_bytes)
        if fetched.status < 500 and fetched.status != _TOO_MANY_REQUESTS:
            return fetched
        wait = retry_after(fetched.headers)
        if fetched.status == _TOO_MANY_REQUESTS and wait:
            self._politeness.pause(host, wait)
        raise Transient(f"{url} answered with status {fetched.status}", wait)


def _asked(error: Exception) -> float | None:
    return (error.retry_after or 0.0) if isinstance(error, Transient) else None
