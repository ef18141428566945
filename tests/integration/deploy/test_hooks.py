"""The webhook, from a signed call to the watcher that it wakes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from deploy.serving.docs_hook import HOOK_PATH, MAX_CALL_BYTES, MAX_CLOCK_DIFFERENCE_SECONDS, DocsHook, sign
from ingest.errors import StoreUnavailable
from ingest.model import Site
from tests.fakes.docsite import DocSite, page
from tests.fakes.pipeline import pipeline
from tests.fakes.site import html

SECRET = "a shared secret"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Bell:
    """Somebody to tell."""

    def __init__(self) -> None:
        self.rung: list[Sequence[str] | None] = []
        self.broken = False
        self.now = NOW

    async def ask(self, urls: Sequence[str] | None) -> int:
        if self.broken:
            raise StoreUnavailable("the disk is full: /srv/ritbot")
        self.rung.append(urls)
        return 1 if urls is None else len(urls)


@pytest.fixture
def bell() -> Bell:
    return Bell()


@pytest.fixture
async def client(bell: Bell) -> AsyncIterator[httpx.AsyncClient]:
    app = DocsHook(SECRET, {"docs": bell.ask}, lambda: bell.now).app()
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
        yield client


async def call(
    client: httpx.AsyncClient, wish: object, *, at: datetime = NOW, secret: str = SECRET, **headers: str
) -> httpx.Response:
    body = wish if isinstance(wish, bytes) else json.dumps(wish).encode()
    stamp = int(at.timestamp())
    signed = {"X-Ritbot-Timestamp": str(stamp), "X-Ritbot-Signature": sign(secret, stamp, body)}
    return await client.post(HOOK_PATH, content=body, headers={**signed, **headers})


async def test_a_signed_call_is_passed_on(client: httpx.AsyncClient, bell: Bell) -> None:
    answer = await call(client, {"site": "docs", "urls": ["https://docs.example.com/a"]})
    assert (answer.status_code, answer.json()) == (202, {"accepted": 1})
    answer = await call(client, {"site": "docs", "urls": "all"})
    assert answer.status_code == 202
    assert bell.rung == [["https://docs.example.com/a"], None]


def test_the_signature_is_what_the_manual_says() -> None:
    # printf 'v1:1767225600:{}' | openssl dgst -sha256 -hmac 'a shared secret'
    assert sign(SECRET, 1767225600, b"{}") == "v1=7c7cf31963c7965aa58b76e1244a2d40f0bcd68aebfa3d38d54f0508c11f3288"


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Ritbot-Signature": ""},
        {"X-Ritbot-Signature": "v1=" + "0" * 64},
        {"X-Ritbot-Timestamp": ""},
        {"X-Ritbot-Timestamp": "now"},
        {"X-Ritbot-Timestamp": "-1"},
        {"X-Ritbot-Timestamp": "9" * 400},
        {"X-Ritbot-Timestamp": str(int(NOW.timestamp()) + 1)},
    ],
)
async def test_a_call_without_a_good_signature_is_refused(
    client: httpx.AsyncClient, bell: Bell, headers: dict[str, str]
) -> None:
    answer = await call(client, {"site": "docs", "urls": "all"}, **headers)
    assert answer.status_code == 401
    assert bell.rung == []


async def test_another_secret_is_refused(client: httpx.AsyncClient, bell: Bell) -> None:
    assert (await call(client, {"site": "docs", "urls": "all"}, secret="guess")).status_code == 401
    assert bell.rung == []


@pytest.mark.parametrize(
    ("seconds", "status"),
    [
        (-MAX_CLOCK_DIFFERENCE_SECONDS - 1, 401),
        (-MAX_CLOCK_DIFFERENCE_SECONDS, 202),
        (MAX_CLOCK_DIFFERENCE_SECONDS, 202),
        (MAX_CLOCK_DIFFERENCE_SECONDS + 1, 401),
    ],
)
async def test_a_call_from_another_time_is_refused(client: httpx.AsyncClient, seconds: int, status: int) -> None:
    answer = await call(client, {"site": "docs", "urls": "all"}, at=NOW + timedelta(seconds=seconds))
    assert answer.status_code == status


async def test_a_call_that_comes_again_does_nothing_again(client: httpx.AsyncClient, bell: Bell) -> None:
    for _ in range(3):
        assert (await call(client, {"site": "docs", "urls": "all"})).status_code == 202
        bell.now += timedelta(seconds=60)
    assert bell.rung == [None]


@pytest.mark.parametrize(
    ("wish", "status"),
    [
        (b"", 400),
        (b"\xff", 400),
        (b"[" * 100_000, 400),
        ([], 400),
        ({"urls": "all"}, 400),
        ({"site": 1, "urls": "all"}, 400),
        ({"site": "docs"}, 400),
        ({"site": "docs", "urls": "some"}, 400),
        ({"site": "docs", "urls": [1]}, 400),
        ({"site": "docs", "urls": ["u"] * 1001}, 400),
        ({"site": "other", "urls": "all"}, 404),
        (b" " * (MAX_CALL_BYTES + 1), 413),
    ],
)
async def test_what_makes_no_sense_is_refused_with_a_reason(
    client: httpx.AsyncClient, bell: Bell, wish: object, status: int
) -> None:
    answer = await call(client, wish)
    assert answer.status_code == status
    assert answer.json()["error"]
    assert bell.rung == []


async def test_a_call_that_could_not_be_written_down_may_come_again(client: httpx.AsyncClient, bell: Bell) -> None:
    bell.broken = True
    answer = await call(client, {"site": "docs", "urls": "all"})
    assert answer.status_code == 503
    assert "/srv" not in answer.text
    bell.broken = False
    assert (await call(client, {"site": "docs", "urls": "all"})).status_code == 202
    assert bell.rung == [None]


async def test_other_methods_are_not_allowed(client: httpx.AsyncClient) -> None:
    assert (await client.get(HOOK_PATH)).status_code == 405


def test_an_empty_secret_is_an_error() -> None:
    with pytest.raises(ValueError, match="secret"):
        DocsHook("", {}, lambda: NOW)


async def test_a_call_brings_a_change_into_the_index() -> None:
    async with DocSite() as docs:
        docs.pages["/"] = html("Home", "<p>Start.</p>")
        async with pipeline(Site("docs", docs.url("/"), allow_private=True, obey_robots=False)) as pipe:
            await pipe.settle()
            docs.pages["/"] = html("Home", "<p>Start, edited.</p>")
            await pipe.settle()
            assert (await pipe.page(docs.url("/"))).nodes[0].text == "Start."
            app = DocsHook(SECRET, {"docs": pipe.watcher().ask}, lambda: NOW).app()
            async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
                answer = await call(client, {"site": "docs", "urls": [docs.url("/")]})
            assert answer.json() == {"accepted": 1}
            await pipe.settle()
            assert (await pipe.page(docs.url("/"))).nodes[0].text == "Start, edited."


@pytest.mark.parametrize("urls", ["all", ["/"]])
async def test_a_call_is_heard_after_the_clock_was_set_back(urls: str | list[str]) -> None:
    async with DocSite() as docs:
        docs.pages["/"] = page(html("Home", "<p>Start.</p>"), etag='"same"')
        async with pipeline(Site("docs", docs.url("/"), allow_private=True, obey_robots=False)) as pipe:
            await pipe.settle()
            await pipe.settle()
            pipe.clock.advance(hours=-2)
            await pipe.settle()
            docs.pages["/"] = page(html("Home", "<p>Start, edited.</p>"), etag='"same"')
            await pipe.watcher().ask(None if urls == "all" else map(docs.url, urls))
            await pipe.settle()
            assert (await pipe.page(docs.url("/"))).nodes[0].text == "Start, edited."


async def test_a_call_that_comes_again_after_the_clock_was_set_back_is_a_new_one(
    client: httpx.AsyncClient, bell: Bell
) -> None:
    await call(client, {"site": "docs", "urls": "all"}, at=NOW)
    bell.now -= timedelta(seconds=120)
    await call(client, {"site": "docs", "urls": "all"}, at=NOW)
    assert bell.rung == [None, None]
