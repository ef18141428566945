"""One request, one answer: a GET over httpx within limits of time and size.

Follows no redirect, tries once, knows no robots.txt: that is HttpFetcher's part. All httpx errors are
translated in `_translated`.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from contextlib import AsyncExitStack, aclosing
from typing import Self

import httpx

from ingest.errors import FetchFailed, PageTooLarge, SiteUnusable, Unreachable
from ingest.model import Site
from ingest.ports import Fetched
from ingest.sites.inflate import Gunzip, TooLarge
from ingest.sites.ssrf_guard import GuardedTransport, is_public

_PLAIN = ("", "identity")
_GZIP = ("gzip", "x-gzip")


class Transient(FetchFailed):
    """A failure that another attempt may not have."""


class NotConnected(Transient):
    """No connection, this time."""


class HttpExchange:
    """Sends GET requests for one site, with its proxy, CA file and login headers. Open with `async with`.

    Speaks to a httpx transport rather than through a client, for no cookie, no redirect and no setting of the
    environment is wanted. `transport` takes the place of the network and its address checks. Behind a proxy
    the proxy resolves host names, so addresses are not checked. Login headers of a site that starts
    on https never travel over http.
    """

    def __init__(self, site: Site, user_agent: str, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._site = site
        self._given = transport
        self._stack = AsyncExitStack()
        self._transport: httpx.AsyncBaseTransport | None = None
        self._timeout = httpx.Timeout(site.timeout, connect=site.timeout / 2, pool=None).as_dict()
        self._usual = {
            "User-Agent": user_agent,
            "Accept": "text/html, application/xhtml+xml, */*;q=0.5",
            "Accept-Encoding": "gzip",
        }

    async def __aenter__(self) -> Self:
        """Raises SiteUnusable if the site's CA file or proxy cannot be used."""
        self._transport = await self._stack.enter_async_context(self._given or _network(self._site))
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._transport = None
        await self._stack.aclose()

    async def get(self, url: str, headers: Mapping[str, str], read_bytes: int | None = None) -> Fetched:
        """Whatever the server answers. The body is at most the site's `max_bytes`, after decompression too; where
        `read_bytes` is given, its first so many bytes, and the rest is left.
        Raises Transient (NotConnected, no complete answer in time) and FetchFailed (Unreachable, and the rest)."""
        if self._transport is None:
            raise RuntimeError("Exchange is not open")
        try:
            request = httpx.Request(
                "GET", url, headers=self._headers(url, headers), extensions={"timeout": self._timeout}
            )
            async with asyncio.timeout(self._site.timeout):
                response = await self._transport.handle_async_request(request)
                async with aclosing(response):
                    body = await self._body(url, response, read_bytes)
        except (TimeoutError, httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._translated(url, error) from error
        received = dict(response.headers)
        return Fetched(url, response.status_code, body, received.get("content-type", ""), received)

    def _headers(self, url: str, headers: Mapping[str, str]) -> httpx.Headers:
        merged = httpx.Headers({**self._usual, **headers})
        if self._site.start.startswith("http://") or url.startswith("https://"):
            merged.update(httpx.Headers(self._site.headers, encoding="utf-8"))
        return merged

    async def _body(self, url: str, response: httpx.Response, read_bytes: int | None) -> bytes:
        encoding = response.headers.get("content-encoding", "").strip().lower()
        limit = read_bytes or self._site.max_bytes
        decoder = Gunzip(limit) if encoding in _GZIP else None
        body = bytearray()
        try:
            async for data in _raw(response):
                if not decoder and encoding not in _PLAIN:
                    raise FetchFailed(f"{url} came encoded as {encoding!r}, which was not asked for")
                body += decoder.feed(data) if decoder else data
                if len(body) > limit:
                    raise TooLarge
        except TooLarge as error:
            if read_bytes:
                return bytes((body + error.decoded)[:read_bytes])
            raise PageTooLarge(
                f"{url} is larger than {self._site.max_bytes:,} bytes; raise max_bytes for this site, or exclude the page"
            ) from None
        except ValueError as error:
            raise Transient(f"{url}: {error}") from error
        if decoder and not decoder.complete:
            raise Transient(f"{url}: the compressed answer broke off")
        return bytes(body)

    def _translated(self, url: str, error: Exception) -> FetchFailed:
        reason = str(error) or type(error).__name__
        match error:
            case httpx.ConnectTimeout():
                return NotConnected(f"{url}: no connection within {self._site.timeout / 2:g} seconds")
            case TimeoutError() | httpx.TimeoutException():
                return Transient(f"{url} gave no complete answer within {self._site.timeout:g} seconds")
            case httpx.ConnectError() if "CERTIFICATE_VERIFY_FAILED" in reason:
                return Unreachable(
                    f"{url}: its certificate is not trusted ({reason}); set ca_file to your own CA's file"
                )
            case httpx.ConnectError():
                return NotConnected(f"{url}: no connection ({reason})")
            case httpx.ProxyError():
                return FetchFailed(f"{url}: the site's proxy refused ({reason})")
            case httpx.LocalProtocolError() | httpx.InvalidURL():
                # The reason may quote a header, and a header may hold a secret.
                return FetchFailed(f"{url} cannot be asked for: the URL or one of the site's headers is not valid")
            case _:
                return Transient(f"{url}: the answer broke off ({reason})")


def _raw(response: httpx.Response) -> httpx.AsyncByteStream:
    """The body as it came over the wire, before any decoding."""
    assert isinstance(response.stream, httpx.AsyncByteStream)
    return response.stream


def _network(site: Site) -> httpx.AsyncBaseTransport:
    try:
        context = httpx.create_ssl_context(trust_env=False)
        if site.ca_file:
            context.load_verify_locations(site.ca_file)
    except (OSError, ssl.SSLError) as error:
        raise SiteUnusable(f"ca_file of site {site.name}: {site.ca_file} cannot be used ({error})") from error
    limits = httpx.Limits(max_connections=site.concurrency, max_keepalive_connections=site.concurrency)
    if site.proxy:
        try:
            return httpx.AsyncHTTPTransport(verify=context, trust_env=False, limits=limits, proxy=site.proxy)
        except (ValueError, ImportError, httpx.InvalidURL) as error:
            raise SiteUnusable(f"proxy of site {site.name} cannot be used; it takes http://HOST:PORT") from error

    def open_pool() -> httpx.AsyncBaseTransport:
        return httpx.AsyncHTTPTransport(verify=context, trust_env=False, limits=limits)

    return GuardedTransport(open_pool, allowed=(lambda _: True) if site.allow_private else is_public)
