"""One watcher and two indexers as processes of their own, on a real Kafka and a real OpenSearch, with vectors behind
Qdrant's API: what is published is searchable, whoever is killed."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import httpx
import pytest

from deploy.serving.docs_hook import sign
from deploy.settings.root import load
from deploy.wiring.stores import open_trees
from ingest.ports import TreeStore
from ingest.urls import page_key
from tests.e2e.commands import on_servers, ritbot
from tests.e2e.roles import PATIENCE_SECONDS, Running, get, is_ready, running, until
from tests.fakes.docsite import DocSite, status
from tests.fakes.site import html
from tests.servers.kafka import Kafka
from tests.servers.opensearch import OpenSearch

SECRET = "a secret of the pipeline"
PAGES = 8


@pytest.fixture
def place(tmp_path: Path, docs: DocSite, kafka: Kafka, opensearch: OpenSearch, qdrant: str) -> Path:
    """A working directory with the settings of all roles: a website that is looked at when someone calls, and a folder."""
    (tmp_path / "files").mkdir()
    (tmp_path / "files/keys.html").write_text(html("Keys", "<p>Rotate the signing keys yearly.</p>"), encoding="utf-8")
    (tmp_path / "ritbot.toml").write_text(
        f"""{on_servers(kafka, opensearch, qdrant)}
        [index]
        folder = "data"
        concurrency = 4
        [http]
        hook_secret = "{SECRET}"
        [[sites]]
        name = "web"
        start = "{docs.url("/")}"
        allow_private = true
        [[sites]]
        name = "files"
        start = "files"
        base_url = "https://files.example/"
        """,
        encoding="utf-8",
    )
    return tmp_path


async def call_hook(watch: Running) -> httpx.Response:
    body = json.dumps({"site": "web", "urls": "all"}).encode()
    now = int(time.time())
    headers = {"X-Ritbot-Timestamp": str(now), "X-Ritbot-Signature": sign(SECRET, now, body)}
    async with httpx.AsyncClient(timeout=PATIENCE_SECONDS) as client:
        return await client.post(f"{watch.address}/hooks/docs", content=body, headers=headers)


def publish(docs: DocSite, color: str) -> None:
    links = "".join(f"<a href='/p{n}'>{n}</a> " for n in range(PAGES))
    docs.pages["/"] = html("Pumps", f"<p>All pumps.</p>{links}")
    for n in range(PAGES):
        docs.pages[f"/p{n}"] = html(f"Pump {n}", f"<p>Pump number {n} is painted {color}.</p>")


async def is_crimson(trees: TreeStore, docs: DocSite) -> bool:
    """Every pump but the one that is gone."""
    found = [await trees.get(page_key(docs.url(f"/p{n}"))) for n in range(PAGES)]
    texts = [
        " ".join(node.text for node in stored.record.page.nodes) if stored and stored.record.page else ""
        for stored in found
    ]
    return texts.pop(3) == "" and all("crimson" in text for text in texts)


@pytest.mark.timeout(600)
async def test_what_is_published_is_searchable_whoever_is_killed(place: Path, docs: DocSite) -> None:
    publish(docs, "blue")
    with ExitStack() as stack:
        roles = (("indexer", True), ("indexer", False), ("watch", True))
        one, two, watch = (stack.enter_context(running(place, role, fresh=fresh)) for role, fresh in roles)
        await until(lambda: one.address, "the indexer listens", one)
        assert (await get(one, "/healthz")).status_code == 200

        def handled(kind: str) -> int:
            return one.handled(kind) + two.handled(kind)

        await until(lambda: handled("new") == PAGES + 2, "every page is indexed", one, two, watch)
        for role in (one, two, watch):
            await until(partial(is_ready, role), "every role is ready", one, two, watch)

        (place / "files/more.html").write_text(html("Spare", "<p>Spare rotors are in box seven.</p>"), encoding="utf-8")
        await until(lambda: handled("new") == PAGES + 3, "an added file is indexed", one, two, watch)
        publish(docs, "crimson")
        docs.pages["/p3"] = status(410)
        assert (await call_hook(watch)).status_code == 202
        await until(lambda: handled("changed"), "a changed page is indexed", one, two, watch)
        victim, other = (one, two) if one.handled("changed") else (two, one)
        assert victim.end(signal.SIGKILL) == -signal.SIGKILL
        async with open_trees(load(place / "ritbot.toml", {})) as trees:
            await until(lambda: is_crimson(trees, docs), "the other indexer has done the rest", other, watch)

        of_watch, of_indexer = [(await get(role, "/metrics")).text for role in (watch, other)]
        for numbers in (of_watch, of_indexer):
            assert re.search(r'^ritbot_events_waiting\{topic="docs.pages"\} \d', numbers, re.MULTILINE), numbers
            assert 'ritbot_dead_letters{topic="bot.questions"} 0.0' in numbers
        assert 'ritbot_site_looked_at_timestamp_seconds{site="web"} 1' in of_watch
        assert "ritbot_page_events_total{kind=" in of_indexer

        sites, doctor, asked = await asyncio.gather(
            asyncio.to_thread(ritbot, place, "sites"),
            asyncio.to_thread(ritbot, place, "doctor"),
            asyncio.to_thread(ritbot, place, "ask", "How is pump number 7 painted?", "--json"),
        )
        assert re.search(rf"web .*\n +{PAGES} pages", sites.stdout), sites.stdout
        assert re.search(r"✓ Event log: Kafka at \S+; \d+ events? waits? for an indexer", doctor.stdout), doctor.stdout
        assert asked.returncode == 0, asked.stderr
        assert "crimson" in json.loads(asked.stdout)["text"]
        for role in (watch, other):
            assert role.end(signal.SIGTERM) == 0, role.events[-5:]
            assert "Stopped" in "".join(role.output)
