"""Links to sections over HTTP, on a site that is edited under them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette

from bot.permalinks.cited_in import cited_in
from bot.permalinks.lookup import Permalinks
from bot.permalinks.permalink import Permalink
from bot.ports import Editions
from bot.store.sealing import KeySeal
from bot.store.sqlite import SqliteBotStore
from bot.store.sqlite_editions import SqliteEditions
from bot.web.access import OpenAccess, ProxyAccess, WebAccess
from bot.web.app import NodeWeb
from bot.web.responses import HEADERS
from deploy.serving.http import serving
from deploy.settings.process import HttpSettings
from ingest.errors import StoreUnavailable
from ingest.model import Node, Scope
from ingest.stores.embedded.trees import SqliteTreeStore
from navigator.answer import CitedSource
from tests.fakes.exchanges import SetClock, answered
from tests.fakes.site import IndexedSite, html, indexed_site

A, B, C = (f"https://docs.example.test/{name}" for name in ("pump", "valve", "new"))
PORT = "<p>Pump listens on port 7070 unless another one is set in the file.</p>"
RESTART = "<p>Restart the service after every change of the file, or nothing of it is read.</p>"
LIE = "".join(
    f"<p>Certificates of kind {n} lie in folder number {n} below that which tls.dir names.</p>" for n in range(6)
)
TLS = f"<h2 id='tls'>Certificates</h2>{LIE}"
UNKNOWN_SECTION = Permalink("d1b4f8f4-e3ba-598c-bf5b-2031877e4e5e").path
PAGE = html("Pump", f"<p>All about the pump.</p><h2 id='port'>Choose a port</h2>{PORT}{RESTART}{TLS}")


@dataclass
class Shown:
    """A site and its links. `last` is what was answered last."""

    site: IndexedSite
    editions: Editions
    permalinks: Permalinks
    client: httpx.AsyncClient

    async def get(self, path: str, status: int = 200) -> str:
        answer = await self.client.get(path)
        assert answer.status_code == status, answer.text
        return answer.text if status == 200 else answer.headers.get("location", answer.text)

    async def node(self, title: str, url: str = A) -> Node:
        stored = await self.site.trees.get(url)
        assert stored
        assert stored.record.page
        return next(node for node in stored.record.page.nodes if node.title == title)


@pytest.fixture
async def shown(tmp_path: Path) -> AsyncIterator[Shown]:
    async with showing(tmp_path) as shown:
        yield shown


def client_of(app: Starlette) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://ritbot.test")


@asynccontextmanager
async def nothing(folder: Path, access: WebAccess) -> AsyncIterator[Starlette]:
    """Where no section is known: whoever is let in hears so."""
    async with SqliteTreeStore(folder / "trees") as trees, SqliteEditions(folder / "editions") as editions:
        yield Starlette(routes=NodeWeb(Permalinks(trees, editions, SetClock()), access, SetClock()).routes())


@asynccontextmanager
async def showing(folder: Path, access: WebAccess | None = None) -> AsyncIterator[Shown]:
    async with indexed_site(folder, {A: PAGE}) as site, SqliteEditions(folder / "editions.sqlite") as editions:

        async def find(text: str, scope: Scope) -> Sequence[str]:
            hits = await site.index.words(text.casefold().split(), 20, scope)
            return [hit.node_id for hit in hits]

        permalinks = Permalinks(site.trees, editions, SetClock(), find)
        web = NodeWeb(permalinks, access or OpenAccess(), SetClock(), "https://kb.example/docs/")
        async with client_of(Starlette(routes=web.routes())) as client:
            yield Shown(site, editions, permalinks, client)


async def test_a_link_leads_to_the_section_at_its_words(shown: Shown) -> None:
    node = await shown.node("Choose a port")
    landed = await shown.get(Permalink(node.id).path, 302)
    assert landed.startswith(f"{A}#port:~:text=Pump%20listens")
    assert await shown.get(Permalink(node.id, node.own_hash).path, 302) == landed
    for at, words in (
        ("1", "Restart%20the"),
        ("2", "Pump%20listens"),
        ("-1", "Pump%20listens"),
        ("٣", "Pump%20listens"),
    ):
        assert f":~:text={words}" in await shown.get(f"{Permalink(node.id, node.own_hash).path}?at={at}", 302)
    assert await shown.get(f"{Permalink(node.id).path}?at=1", 302) == landed
    page = await shown.get(f"{Permalink(node.id).path}?show")
    assert "All about the pump" not in page
    assert "Pump listens on port 7070" in page
    assert f"https://kb.example/docs/n/{node.id}@{node.own_hash[:12]}" in page


async def test_a_container_leads_to_its_heading(shown: Shown) -> None:
    await shown.site.update({B: html("Valve", f"<h2 id='top'>Over it</h2><h3 id='in'>In it</h3>{PORT}")})
    node = await shown.node("Over it", B)
    assert await shown.get(Permalink(node.id).path, 302) == f"{B}#top"
    assert "no text of its own" in await shown.get(f"{Permalink(node.id).path}?show")


async def test_a_link_that_names_a_text_shows_what_changed(shown: Shown) -> None:
    node = await shown.node("Choose a port")
    link = Permalink(node.id, node.own_hash).path
    await shown.get(link, 302)
    await shown.site.update({A: PAGE.replace("7070", "8080")})
    page = await shown.get(link)
    assert "Changed since 1 January 2026" in page
    assert "removed: </span>7070 </del>" in page
    assert "added: </span>8080 </ins>" in page
    assert "8080" in await shown.get(Permalink(node.id).path, 302)
    assert f'href="../n/{node.id}@{node.own_hash[:12]}?show"' in await shown.get(f"{Permalink(node.id).path}?show")


async def test_a_text_that_was_never_kept_is_said_to_be_lost(shown: Shown) -> None:
    node = await shown.node("Choose a port")
    assert "was not kept" in await shown.get(Permalink(node.id, "0" * 64).path)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (
            {A: html("Pump", f"<p>All about the pump.</p><h2 id='port'>Choose a port</h2>{PORT}<h2>Afterwards</h2>{RESTART}")},
            ["Split", "Where its words stand now", "Pump › Afterwards"],
        ),
        (
            {A: html("Pump", f"<p>All about the pump.</p>{TLS}{PORT}{RESTART}")},
            ["No section of its own any more", "Pump › Certificates"],
        ),
        (
            {A: html("Pump", f"<p>All about the pump.</p>{TLS}"), B: html("Valve", f"<h2>Ports of all</h2>{PORT}{RESTART}")},
            ["No section of its own any more", "Valve › Ports of all"],
        ),
        (
            {A: html("Pump", f"<p>All about the pump.</p>{TLS}")},
            ["Removed", "was gone by 1 January 2026", "Pump listens on port 7070", "Nearest sections that are there"],
        ),
        (
            {A: html("Pump", f"<p>All about the pump.</p><h2>More</h2><p>Of it.</p><h3 id='port'>Choose a port</h3>{PORT}{RESTART}{TLS}")},
            ["Current", "Moved", "it stood under “Pump”"],
        ),
    ],
    ids=["split", "merged", "moved to another page", "removed", "moved on its page"],
)  # fmt: skip
async def test_it_says_what_became_of_a_section(shown: Shown, edit: dict[str, str], said: list[str]) -> None:
    node = await shown.node("Choose a port")
    link = Permalink(node.id, node.own_hash).path
    await shown.get(link, 302)
    await shown.site.update(dict(reversed(edit.items())))
    page = await shown.get(f"{link}?show")
    for each in said:
        assert each in page


async def test_a_page_that_moves_takes_its_links_along(shown: Shown) -> None:
    node = await shown.node("Choose a port")
    link = Permalink(node.id, node.own_hash).path
    await shown.get(link, 302)
    shown.site.fetcher.pages[A] = (301, C)
    shown.site.fetcher.pages[C] = PAGE
    await shown.site.handle(C, moved_from=A)
    assert (await shown.get(link, 302)).startswith(f"{C}#port")
    page = await shown.get(f"{link}?show")
    assert "Moved" in page
    assert A in page


async def test_a_page_that_goes_leaves_its_texts(shown: Shown) -> None:
    node = await shown.node("Choose a port")
    link = Permalink(node.id, node.own_hash).path
    await shown.get(link, 302)
    await shown.site.remove(A)
    for path in (link, Permalink(node.id).path):
        page = await shown.get(path)
        assert "its page was removed (HTTP 404) on 1 January 2026" in page
        assert "Pump listens on port 7070" in page
    await shown.site.trees.forget("docs")
    assert "its site is no longer indexed" in await shown.get(link)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/n/", 400),
        ("/n/x", 400),
        ("/n/%00", 400),
        ("/n/..%2f..%2fetc%2fpasswd", 400),
        ("/n/%ff%fe", 400),
        ("/n/" + "a" * 5_000, 400),
        ("/n/a/b/c?show", 400),
        ("/n/<script>alert(1)</script>", 400),
        ("/n/d1b4f8f4-e3ba-598c-bf5b-2031877e4e5e@", 400),
        ("/n/d1b4f8f4-e3ba-598c-bf5b-2031877e4e5e", 404),
        ("/n/d1b4f8f4-e3ba-598c-bf5b-2031877e4e5e@0123456789ab?show=1", 404),
    ],
)
async def test_what_is_no_link_is_told_so_in_a_page(tmp_path: Path, path: str, status: int) -> None:
    async with nothing(tmp_path, OpenAccess()) as app, client_of(app) as client:
        answer = await client.get(path)
    assert answer.status_code == status
    assert answer.text.startswith("<!doctype html>")
    assert "<script>alert" not in answer.text
    assert HEADERS.items() <= dict(answer.headers).items()


async def test_nothing_of_a_page_is_for_search_engines_or_scripts_from_elsewhere(shown: Shown) -> None:
    node = await shown.node("Choose a port")
    for path in (Permalink(node.id).path, f"{Permalink(node.id).path}?show"):
        answer = await shown.client.get(path)
        assert answer.headers["x-robots-tag"] == "noindex, nofollow, noarchive"
        assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert '<meta name="robots" content="noindex' in answer.text
    for asset in ("style.css", "copy.js"):
        assert f"../web/{asset}" in answer.text
        assert (await shown.client.get(f"/web/{asset}")).status_code == 200
    assert (await shown.client.head(Permalink(node.id).path)).status_code == 302
    assert (await shown.client.post(Permalink(node.id).path)).status_code == 405


class Down:
    """A store that does not answer, or breaks."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, name: str) -> Callable[..., object]:
        async def call(*_: object) -> object:
            raise self._error

        return call


@pytest.mark.parametrize(("error", "status"), [(StoreUnavailable("disk /srv full"), 503), (KeyError("secret"), 500)])
async def test_trouble_is_told_in_plain_words(error: Exception, status: int) -> None:
    permalinks = Permalinks(Down(error), Down(error), SetClock())  # type: ignore[arg-type]
    async with client_of(Starlette(routes=NodeWeb(permalinks, OpenAccess(), SetClock()).routes())) as client:
        answer = await client.get(UNKNOWN_SECTION)
    assert answer.status_code == status
    assert "<h1>" in answer.text
    assert "secret" not in answer.text
    assert "/srv" not in answer.text


@pytest.mark.parametrize(
    ("trusted", "headers", "status"),
    [
        ("127.0.0.0/8", {"X-User": "ada"}, 404),
        ("127.0.0.0/8", {"X-User": "ada", "X-Forwarded-For": "203.0.113.9"}, 404),
        ("127.0.0.0/8", {}, 403),
        ("127.0.0.0/8", {"X-User": ""}, 403),
        ("127.0.0.0/8", {"X-User": "a" * 500}, 403),
        ("10.0.0.0/8", {"X-User": "ada"}, 403),
        ("10.0.0.0/8", {"X-User": "ada", "X-Forwarded-For": "10.0.0.1"}, 403),
    ],
)
async def test_a_name_is_believed_from_the_proxy_alone(
    tmp_path: Path, trusted: str, headers: dict[str, str], status: int
) -> None:
    """Over a socket: what counts is where the call comes from, whatever it says of itself."""
    async with (
        nothing(tmp_path, ProxyAccess("X-User", [trusted])) as app,
        serving(app, HttpSettings(port=0)) as address,
        httpx.AsyncClient(trust_env=False) as client,
    ):
        answer = await client.get(f"{address}{UNKNOWN_SECTION}", headers=headers)
    assert answer.status_code == status


async def test_where_answers_cited_a_section_is_told_to_people_with_a_name_alone(tmp_path: Path) -> None:
    async with showing(tmp_path) as shown, SqliteBotStore(tmp_path / "bot", KeySeal([]), SetClock()) as store:
        node = await shown.node("Choose a port")
        told = answered(1)
        assert told.answer
        cited = replace(told.answer.sources[0].first, node_id=node.id)
        answer = replace(told.answer, sources=(CitedSource(1, (cited,)),))
        await store.keep(replace(told, answer=answer), None)
        secret = answered(2, kind="command", text="a private question", response_url="https://hooks.slack.test/1")
        await store.keep(replace(secret, answer=answer), None)
        path = f"{Permalink(node.id).path}?show"
        for access, seen in ((OpenAccess(), False), (ProxyAccess("X-User", ["127.0.0.0/8"]), True)):
            web = NodeWeb(shown.permalinks, access, SetClock(), cited_in=cited_in(store))
            async with client_of(Starlette(routes=web.routes())) as client:
                page = (await client.get(path, headers={"X-User": "ada"})).text
            assert ("Answers that cite it" in page) is seen
            assert ("https://slack.com/archives/C1/p91" in page) is seen
            assert ("in private" in page) is seen
            assert "private question" not in page
            assert "Question 1?" not in page


async def test_two_names_are_none(tmp_path: Path) -> None:
    async with nothing(tmp_path, ProxyAccess("X-User", ["127.0.0.0/8"])) as app, client_of(app) as client:
        for names, status in ((["ada"], 404), (["ada", "bob"], 403)):
            answer = await client.get(UNKNOWN_SECTION, headers=[("x-user", name) for name in names])
            assert answer.status_code == status
