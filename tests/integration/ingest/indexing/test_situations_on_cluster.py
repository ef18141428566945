"""What goes wrong between the pipeline and its servers, from the site's own server to what Kafka, OpenSearch and Qdrant
hold; and all roles at work together on them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.errors import RecordTooLargeError

from deploy.wiring.stores import SystemClock
from ingest.errors import RecordTooLarge
from ingest.events.kafka.client import Connection
from ingest.events.kafka.event_log import KafkaEventLog
from ingest.events.kafka.group import GroupTiming, KafkaConsumer
from ingest.events.topics import PAGES
from ingest.indexing.service import INDEXER_GROUP
from ingest.model import Site
from ingest.ports import Consumer
from ingest.stores.cluster.chunks import SplitChunkIndex
from ingest.stores.cluster.opensearch import OpenSearch
from ingest.stores.cluster.trees import OpenSearchTreeStore
from ingest.stores.cluster.vectors import QdrantVectors
from ingest.stores.cluster.words import OpenSearchWords
from ingest.watch.schedule import Pace
from tests.contract.conftest import remove
from tests.fakes.between import Between, refuse_item
from tests.fakes.docsite import DocSite, redirect, slow, status
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.pipeline import Pipeline
from tests.fakes.qdrant_server import Fault, QdrantServer
from tests.fakes.site import html
from tests.servers.kafka import Kafka
from tests.servers.opensearch import OpenSearch as Node
from tests.waiting import eventually

QUICK = GroupTiming(session=1.5, hand_over=1.5)
WITHIN = 30.0
PARTS = 5


@pytest.fixture
def connection(kafka: Kafka) -> Connection:
    """To topics and groups of the test's own."""
    return Connection((kafka.address,), prefix=f"test-{uuid4().hex[:12]}.", timeout=5.0)


@pytest.fixture
def servers(opensearch: Node) -> Iterator[Between]:
    """What stands between the words and OpenSearch."""
    with Between(opensearch.url) as between:
        yield between


@pytest.fixture
def vectors_server(tmp_path: Path) -> Iterator[QdrantServer]:
    with QdrantServer(tmp_path) as server:
        yield server


@pytest.fixture
async def pipe(
    docs: DocSite, connection: Connection, opensearch: Node, servers: Between, vectors_server: QdrantServer
) -> AsyncIterator[Pipeline]:
    """The cluster column; requests to Qdrant may take one second."""
    name, embedder = f"test-{uuid4().hex[:12]}", HashingEmbedder()
    site = Site("docs", docs.url("/"), sitemap=docs.url("/sitemap.txt"), allow_private=True, obey_robots=False)
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        stack.callback(remove, f"{opensearch.url}/{name}-*")
        trees = await enter(OpenSearchTreeStore(await enter(OpenSearch(opensearch.url)), name))
        words = await enter(OpenSearchWords(await enter(OpenSearch(servers.url)), name))
        vectors = await enter(QdrantVectors(vectors_server.url, embedder.dimensions, name, timeout=1))
        index = await enter(SplitChunkIndex(vectors, words))
        events: Any = await enter(KafkaEventLog(connection, timing=QUICK))
        yield Pipeline(site, trees, index, events, embedder)


class OtherClient:
    """The log, but its consumers read through this client."""

    def __init__(self, log: Any, connection: Connection, kind: type[AIOKafkaConsumer], **options: Any) -> None:
        self._log = log
        self._connection = connection
        self._make = lambda group: kind(
            **connection.options(),
            group_id=connection.named(group),
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            session_timeout_ms=1500,
            heartbeat_interval_ms=150,
            **options,
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)

    def consume(self, topic: str, group: str) -> AbstractAsyncContextManager[Consumer]:
        named, connect, append = self._connection.named, lambda: self._make(group), self._log.append
        return KafkaConsumer(self._connection, connect, named(topic), named(group), append, QUICK)


class Skips(AIOKafkaConsumer):  # type: ignore[misc]  # aiokafka has no types
    """aiokafka#1173: the position passes a record that is too large, and it is never given out."""

    async def getmany(self, **how: Any) -> Any:
        if await super().getmany(**how):
            raise RecordTooLargeError("a record is larger than the fetch size")
        return {}


def publish(docs: DocSite, **pages: Any) -> None:
    """Pages by name; all that there are is listed."""
    docs.pages.update({f"/{name}": body for name, body in pages.items()})
    docs.pages["/sitemap.txt"] = "\n".join(docs.url(path) for path in docs.pages if path != "/sitemap.txt")


def sections(count: int, edit: str = "") -> str:
    parts = "".join(f"<h2 id='s{n}'>Part {n}</h2><p>Text of part number {n}{edit}.</p>" for n in range(count))
    return html("ChunkPassages", parts)


# --- 12: work and records that are too large for a consumer


async def test_a_page_slower_than_the_group_waits_for_is_handled_once(
    pipe: Pipeline, docs: DocSite, connection: Connection
) -> None:
    """Situation 12: no eviction, no second delivery, no loop."""
    publish(docs, a=html("A", "<p>Page a.</p>"), b=html("B", "<p>Page b.</p>"))
    await pipe.cycle()
    docs.requests.clear()
    publish(docs, a=slow(4.0, html("A", "<p>Page a.</p>")))
    pipe.events = OtherClient(pipe.events, connection, AIOKafkaConsumer, max_poll_interval_ms=800)  # type: ignore[assignment]
    service = await pipe.work()
    assert docs.count("/a") == 1
    assert service.totals.outcomes == {"new": 2}
    assert await pipe.live() == {"a", "b"}


async def test_a_record_that_cannot_be_fetched_ends_the_service_and_is_not_skipped(
    pipe: Pipeline, docs: DocSite, connection: Connection
) -> None:
    publish(docs, a=html("A", "<p>Page a.</p>"), b=html("B", "<p>Page b.</p>"))
    await pipe.cycle()
    real, pipe.events = pipe.events, OtherClient(pipe.events, connection, Skips)  # type: ignore[assignment]
    with pytest.raises(RecordTooLarge):
        async with asyncio.timeout(WITHIN):  # at once, though the service waits for records as long as twice that
            await pipe.work()
    assert await pipe.states() == {}
    pipe.events = real
    assert await pipe.events.lag(PAGES, INDEXER_GROUP) == 2
    await pipe.work()
    assert await pipe.live() == {"a", "b"}


async def test_a_large_record_of_somebody_else_is_a_dead_letter_and_holds_nobody_up(
    pipe: Pipeline, docs: DocSite, connection: Connection
) -> None:
    publish(docs, a=html("A", "<p>Page a.</p>"))
    key, body = docs.url("/large"), b"x" * 500_000
    with pytest.raises(RecordTooLarge):
        await pipe.events.append(PAGES, key, 2 * body)
    await pipe.cycle()
    async with AIOKafkaProducer(bootstrap_servers=list(connection.servers)) as other:
        await other.send_and_wait(connection.named(PAGES), body, key.encode())
    await pipe.work()
    assert [(letter.record.key, letter.record.value) for letter in await pipe.dead()] == [(key, body)]
    assert await pipe.live() == {"a"}


async def test_a_record_too_large_even_for_the_dead_letters_ends_the_service_and_is_not_skipped(
    pipe: Pipeline, docs: DocSite, connection: Connection
) -> None:
    publish(docs, a=html("A", "<p>Page a.</p>"))
    await pipe.cycle()
    async with AIOKafkaProducer(bootstrap_servers=list(connection.servers)) as other:
        await other.send_and_wait(connection.named(PAGES), b"x" * 900_000, b"large")
    for _ in range(2):
        with pytest.raises(RecordTooLarge, match="dead"):
            await pipe.work()
    assert await pipe.events.lag(PAGES, INDEXER_GROUP) >= 1
    assert await pipe.dead() == []


# --- 13: a store that does a part, or does it and does not say so


async def test_of_a_page_only_the_chunk_that_was_refused_is_sent_again(
    pipe: Pipeline, docs: DocSite, servers: Between
) -> None:
    publish(docs, parts=sections(PARTS))
    servers.next("_bulk", refuse_item(2))
    await pipe.settle()
    assert [body.count(b'"index"') for body in servers.bodies("_bulk")] == [PARTS, 1]
    assert len(await pipe.index.words(["part"], 10)) == PARTS
    assert await pipe.stray() == {}
    assert len(pipe.embedder.embedded) == PARTS


@pytest.mark.parametrize(
    "fault",
    [Fault(delay=1.5), Fault(status=500, applies="all"), Fault(status=500, applies="half")],
    ids=["too-late", "done-but-failed", "half-done"],
)
async def test_vectors_whose_writing_got_no_good_answer_are_there_once(
    pipe: Pipeline, docs: DocSite, vectors_server: QdrantServer, fault: Fault
) -> None:
    publish(docs, parts=sections(PARTS))
    vectors_server.next("upsert", fault)
    service = await pipe.work() if await pipe.cycle() else None
    assert vectors_server.requests.count("upsert") == 2
    assert await pipe.index.count() == PARTS
    assert len(pipe.embedder.embedded) == PARTS
    assert service is not None
    assert service.totals.outcomes == {"new": 1}
    publish(docs, parts=sections(2))
    vectors_server.next("delete", fault)
    pipe.clock.advance(hours=1)
    await pipe.settle()
    assert await pipe.index.count() == 2
    assert await pipe.stray() == {}


# --- all roles together


async def test_what_two_services_had_finished_when_they_were_stopped_is_committed(
    pipe: Pipeline, docs: DocSite
) -> None:
    publish(docs, **{f"p{n}": slow(0.2, html(f"Page {n}", f"<p>This is page {n}.</p>")) for n in range(40)})
    await pipe.cycle()

    async def handled() -> bool:
        return all(service.totals.outcomes["new"] for service in services)

    async with pipe.indexers() as first, pipe.indexers() as second:
        services = [pipe.service(first), pipe.service(second)]
        running = [asyncio.create_task(service.run()) for service in services]
        await eventually(handled, WITHIN)
        for service in services:
            service.stop()
        await asyncio.gather(*running)
    finished = sum(service.totals.outcomes["new"] for service in services)
    assert 2 <= finished < 40
    assert await pipe.events.lag(PAGES, INDEXER_GROUP) == 40 - finished


async def test_a_page_comes_changes_moves_and_goes_while_a_watcher_and_two_services_share_the_work(
    pipe: Pipeline, docs: DocSite
) -> None:
    def at(name: str) -> Callable[[], Awaitable[bool]]:
        """Whether the page is live there, with exactly the sections that it is served with, and nowhere else."""

        async def check() -> bool:
            found = await pipe.index.words(["part"], 10)
            listed = await pipe.trees.outlines([docs.url(f"/{name}")])
            return {hit.chunk_id for hit in found} == {chunk for page in listed.values() for chunk in page.chunk_ids}

        return check

    async def searchable(text: str) -> bool:
        nodes = await pipe.trees.nodes([hit.node_id for hit in await pipe.index.words([text], 10)])
        return any(text in node.node.text for node in nodes.values())

    async def nothing_waits() -> bool:
        return await pipe.events.lag(PAGES, INDEXER_GROUP) == 0

    publish(docs, other=html("Other", "<p>Another page.</p>"))
    pipe.pace = Pace(first=0.2, soonest=0.1, slowest=0.2, full=0.2, misses=2, missing_for=0.3, listing_share=1.0)
    pipe.clock = SystemClock()  # type: ignore[assignment]
    async with pipe.indexers() as first, pipe.indexers() as second, asyncio.TaskGroup() as group:
        services = [pipe.service(first), pipe.service(second)]
        running = [group.create_task(service.run()) for service in services]
        watching = group.create_task(pipe.watcher(every=0.2).run())
        publish(docs, old=sections(PARTS))
        await eventually(lambda: searchable("number"), WITHIN)
        ids = await pipe.ids(docs.url("/old"))
        publish(docs, old=sections(2, edit=", of zinc"))
        await eventually(lambda: searchable("zinc"), WITHIN)
        docs.pages["/new"], docs.pages["/old"] = docs.pages["/old"], redirect("/new", 301)
        publish(docs)
        await eventually(at("new"), WITHIN)
        assert (await pipe.ids(docs.url("/new"))).items() <= ids.items()
        docs.pages["/new"] = docs.pages["/old"] = status(410)
        await eventually(at("nowhere"), WITHIN)
        watching.cancel()
        await asyncio.wait([watching])
        await eventually(nothing_waits, WITHIN)  # the old address is looked at in a cycle of its own, after the new one
        for service in services:
            service.stop()
        await asyncio.wait(running)
    assert await pipe.live() == {"other"}
    assert await pipe.index.count() == 1
    assert await pipe.stray() == {}
    assert await pipe.dead() == []
    assert await pipe.events.lag(PAGES, INDEXER_GROUP) == 0
    assert len(pipe.embedder.embedded) == 1 + PARTS + 2
