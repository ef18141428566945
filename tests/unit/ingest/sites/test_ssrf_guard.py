"""ingest.sites.ssrf_guard: connections go to checked addresses only."""

from __future__ import annotations

import socket
from collections.abc import Sequence

import httpx
import pytest

from ingest.errors import Blocked, Unreachable
from ingest.sites.ssrf_guard import GuardedTransport, is_public


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
        "240.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fc00::1", "ff02::1", "2001:db8::1",
        "::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::10.0.0.1", "2002:7f00:1::",
        "fec0::1", "feff::1", "64:ff9b:1::1", "64:ff9b:1::8.8.8.8", "::8.8.8.8", "::ffff:0:8.8.8.8", "3fff::1", "3fff:fff::1",
        "5f00::1", "192.88.99.1", "::ffff:192.88.99.1", "2002:c058:6301::",
    ],
)  # fmt: skip
def test_private_addresses_are_not_public_in_any_spelling(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "93.184.216.34",
        "8.8.8.8",
        "2606:4700::1111",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
        "2002:808:808::",
        "192.88.98.1",
    ],
)
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(address)


class Wire(httpx.AsyncBaseTransport):
    """Where requests really went: address, Host header, SNI. Addresses in `down` refuse."""

    def __init__(self, log: list[tuple[str, str, str]], down: Sequence[str] = ()) -> None:
        self.log = log
        self.down = down
        self.closed = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.log.append((request.url.host, request.headers["host"], request.extensions["sni_hostname"]))
        if request.url.host in self.down:
            raise httpx.ConnectError("refused")
        return httpx.Response(200)

    async def aclose(self) -> None:
        self.closed = True


def guard(answers: dict[str, list[str]], log: list[tuple[str, str, str]], down: Sequence[str] = ()) -> GuardedTransport:
    async def resolve(host: str, port: int) -> Sequence[str]:
        if host not in answers:
            raise OSError("Name or service not known")
        return answers[host]

    return GuardedTransport(lambda: Wire(log, down), resolve=resolve)


def get(url: str) -> httpx.Request:
    return httpx.Request("GET", url)


async def test_the_connection_goes_to_the_address_that_was_checked_under_the_hosts_name() -> None:
    log: list[tuple[str, str, str]] = []
    async with guard({"docs.test": ["8.8.8.8"]}, log) as transport:
        await transport.handle_async_request(get("https://docs.test:8443/a"))
    assert log == [("8.8.8.8", "docs.test:8443", "docs.test")]


async def test_an_answer_that_changes_after_the_check_is_checked_again() -> None:
    log: list[tuple[str, str, str]] = []
    answers = {"docs.test": ["8.8.8.8"]}
    async with guard(answers, log) as transport:
        await transport.handle_async_request(get("https://docs.test/"))
        answers["docs.test"] = ["127.0.0.1"]
        with pytest.raises(Blocked, match=r"docs\.test \(127\.0\.0\.1\) is in a private network.*allow_private"):
            await transport.handle_async_request(get("https://docs.test/"))
    assert len(log) == 1


async def test_one_private_address_among_many_blocks_the_host() -> None:
    log: list[tuple[str, str, str]] = []
    async with guard({"docs.test": ["8.8.8.8", "::1"]}, log) as transport:
        with pytest.raises(Blocked):
            await transport.handle_async_request(get("https://docs.test/"))
    assert log == []


async def test_the_next_address_is_tried_when_one_does_not_answer() -> None:
    log: list[tuple[str, str, str]] = []
    async with guard({"docs.test": ["2606:4700::1", "8.8.8.8"]}, log, down=["2606:4700::1"]) as transport:
        response = await transport.handle_async_request(get("https://docs.test/"))
    assert response.status_code == 200
    assert [address for address, _, _ in log] == ["2606:4700::1", "8.8.8.8"]


async def test_when_no_address_answers_the_last_failure_counts() -> None:
    async with guard({"docs.test": ["8.8.4.4", "8.8.8.8"]}, [], down=["8.8.4.4", "8.8.8.8"]) as transport:
        with pytest.raises(httpx.ConnectError, match="refused"):
            await transport.handle_async_request(get("https://docs.test/"))


@pytest.mark.parametrize("answers", [{}, {"docs.test": []}])
async def test_a_name_without_an_address_is_no_connection(answers: dict[str, list[str]]) -> None:
    async with guard(answers, []) as transport:
        with pytest.raises(httpx.ConnectError, match=r"the name docs\.test"):
            await transport.handle_async_request(get("https://docs.test/"))


async def test_hosts_behind_one_address_never_share_connections_and_all_are_closed() -> None:
    wires: list[Wire] = []

    def open_pool() -> Wire:
        wires.append(Wire([]))
        return wires[-1]

    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["8.8.8.8"]

    async with GuardedTransport(open_pool, resolve=resolve) as transport:
        for host in ("a.test", "b.test", "a.test"):
            await transport.handle_async_request(get(f"https://{host}/"))
    assert [[host for _, host, _ in wire.log] for wire in wires] == [["a.test", "a.test"], ["b.test"]]
    assert all(wire.closed for wire in wires)


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), Unreachable),
        (socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution"), httpx.ConnectError),
        (UnicodeError("label too long"), Unreachable),
    ],
)
async def test_a_name_that_is_unknown_is_told_from_a_resolver_that_does_not_answer(
    error: Exception, raised: type[Exception]
) -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        raise error

    async with GuardedTransport(lambda: Wire([], ()), resolve=resolve) as transport:
        with pytest.raises(raised, match=r"docs\.test"):
            await transport.handle_async_request(get("https://docs.test/"))
