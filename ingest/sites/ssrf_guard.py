"""The network door: connects only to addresses that were checked, so that no page, redirect or DNS answer
leads the fetcher into a private network.

Host names are resolved here, every address is checked, and the connection goes to that very address
(the name stays in the Host header, in SNI and in the certificate check): an answer that changes
between check and connection (DNS rebinding) has no effect.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

import httpx

from ingest.errors import Blocked, Unreachable

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_REFUSED = tuple(
    map(
        ipaddress.ip_network,
        (
            "::/96",  # IPv4-compatible, deprecated (RFC 4291)
            "::ffff:0:0:0/96",  # IPv4-translated (RFC 2765): a translator would reach the IPv4 address in it
            "64:ff9b:1::/48",  # local-use NAT64 (RFC 8215)
            "3fff::/20",  # documentation (RFC 9637)
            "5f00::/16",  # segment routing (RFC 9602)
            "fec0::/10",  # site-local, deprecated (RFC 3879)
            "192.88.99.0/24",  # 6to4 relays, deprecated (RFC 7526)
        ),
    )
)
"""What Python 3.11 calls global, and is not, or leads to what is not."""


async def system_resolve(host: str, port: int) -> Sequence[str]:
    """IP addresses of `host` in the order in which to try them. Raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def is_public(address: str) -> bool:
    """Whether the IP address belongs to the public Internet: not loopback, private, link-local, shared
    or reserved, not multicast, and no IPv6 form of an IPv4 address that is."""
    ip = ipaddress.ip_address(address)
    if any(ip in network for network in _REFUSED):
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour
        if ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
    return ip.is_global and not ip.is_multicast


class GuardedTransport(httpx.AsyncBaseTransport):
    """Sends each request to a checked address of its host, one connection pool a host.

    `open_pool` gives a new transport for a host; `allowed` judges an IP address. Raises Blocked if any
    address of the host is not allowed, Unreachable if its name is unknown, httpx.ConnectError if it has no address or none
    answers.
    """

    def __init__(
        self,
        open_pool: Callable[[], httpx.AsyncBaseTransport],
        *,
        resolve: Resolve = system_resolve,
        allowed: Callable[[str], bool] = is_public,
    ) -> None:
        self._open_pool = open_pool
        self._resolve = resolve
        self._allowed = allowed
        self._stack = AsyncExitStack()
        self._pools: dict[str, httpx.AsyncBaseTransport] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        self._pools.clear()
        await self._stack.aclose()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        host = _host(request)
        if host not in self._pools:
            self._pools[host] = self._open_pool()
            self._stack.push_async_callback(self._pools[host].aclose)
        *others, last = await self._addresses(request)
        for address in others:
            try:
                return await self._pools[host].handle_async_request(_pinned(request, address))
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue
        return await self._pools[host].handle_async_request(_pinned(request, last))

    async def _addresses(self, request: httpx.Request) -> Sequence[str]:
        host = _host(request)
        port = request.url.port or (443 if request.url.scheme == "https" else 80)
        try:
            addresses = await self._resolve(host, port)
        except (OSError, UnicodeError) as error:
            if _is_unknown(error):
                raise Unreachable(
                    f"there is no host {host} ({getattr(error, 'strerror', None) or 'no name of a host'}): check how it is"
                    " written, and that this machine resolves names"
                ) from error
            raise httpx.ConnectError(f"the name {host} cannot be resolved: {error}", request=request) from error
        if not addresses:
            raise httpx.ConnectError(f"the name {host} has no address", request=request)
        for address in addresses:
            if not self._allowed(address):
                name = host if host == address else f"{host} ({address})"
                raise Blocked(
                    f"{name} is in a private network; if that is meant, allow it: --allow-private on the command line,"
                    " or allow_private = true in the site's table of ritbot.toml"
                )
        return addresses


def _is_unknown(error: Exception) -> bool:
    """Whether the name itself is wrong; a resolver that does not answer may answer later."""
    unknown = (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME))
    return isinstance(error, UnicodeError) or (isinstance(error, socket.gaierror) and error.errno in unknown)


def _host(request: httpx.Request) -> str:
    """As it goes over the wire: a name outside ASCII in its IDNA form."""
    return request.url.raw_host.decode("ascii")


def _pinned(request: httpx.Request, address: str) -> httpx.Request:
    return httpx.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": _host(request)},
    )
