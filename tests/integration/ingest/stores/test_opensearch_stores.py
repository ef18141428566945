"""What only the stores on OpenSearch have: a cluster that refuses, loses answers, restarts; indexes and their aliases."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from ingest import codec
from ingest.errors import Conflict, StoreUnavailable
from ingest.ports import VersionedRecord, WatchState
from ingest.stores.cluster.opensearch import NUMBER, UNINDEXED, WORD, BulkItem, OpenSearch, StoredDocument
from ingest.stores.cluster.trees import OpenSearchTreeStore, document_id
from ingest.stores.cluster.words import OpenSearchWords
from tests.contract.chunks import chunk
from tests.contract.records import live, without_page
from tests.fakes.between import Behaviour, Between, answer, late, lost, refuse_item, say
from tests.servers.java import free_ports
from tests.servers.opensearch import OpenSearch as Node


@pytest.fixture(scope="module")
def shared_between(opensearch: Node) -> Iterator[Between]:
    with Between(opensearch.url) as between:
        yield between


@pytest.fixture
def between(shared_between: Between) -> Between:
    shared_between.forget()
    return shared_between


@pytest.fixture
async def server(between: Between) -> AsyncIterator[OpenSearch]:
    async with OpenSearch(between.url) as server:
        yield server


@pytest.fixture
def name() -> str:
    return f"test-{uuid4().hex[:12]}"


@pytest.fixture
async def trees(server: OpenSearch, name: str) -> AsyncIterator[OpenSearchTreeStore]:
    async with OpenSearchTreeStore(server, name) as trees:
        yield trees


@pytest.fixture
async def words(server: OpenSearch, name: str) -> AsyncIterator[OpenSearchWords]:
    async with OpenSearchWords(server, name) as words:
        yield words


# --- a cluster that refuses, or whose answers are lost


async def test_of_a_bulk_only_the_refused_item_is_sent_again(words: OpenSearchWords, between: Between) -> None:
    chunks = [chunk(number, f"common t{number}") for number in range(5)]
    between.next("_bulk", refuse_item(2), refuse_item(0))
    await words.upsert(chunks)
    assert [body.count(b'"index"') for body in between.bodies("_bulk")] == [5, 1, 1]
    assert chunks[2].id.encode() in between.bodies("_bulk")[-1]
    assert len(await words.words(["common"], 10)) == 5


async def test_an_item_that_can_never_be_stored_is_an_error_at_once(
    server: OpenSearch, words: OpenSearchWords, between: Between, name: str
) -> None:
    with pytest.raises(StoreUnavailable, match="strict"):
        await server.bulk(f"{name}-words", [BulkItem("a", {"chunk": "a"}), BulkItem("b", {"unknown": 1})])
    assert len(between.bodies("_bulk")) == 1


@pytest.mark.parametrize("answered", [lost, late(1.5)], ids=["lost", "late"])
async def test_a_put_that_was_done_though_its_answer_was_lost_is_done(
    trees: OpenSearchTreeStore, between: Between, name: str, answered: Behaviour
) -> None:
    async with OpenSearch(between.url, timeout=1.0) as server:
        hasty = OpenSearchTreeStore(server, name)
        record = live("p")
        between.next(f"_doc/{document_id(record.key)}", answered)
        revision = await hasty.put(record, None)
        assert await trees.get(record.key) == VersionedRecord(record, revision)
        changed = live("p", seq=2)
        assert await trees.put(changed, revision) != revision


async def test_a_put_that_was_done_by_another_meanwhile_conflicts(trees: OpenSearchTreeStore, between: Between) -> None:
    record = live("p")
    between.next(f"_doc/{document_id(record.key)}", answer(503))
    first, second = await asyncio.gather(trees.put(record, None), trees.put(record, None), return_exceptions=True)
    assert isinstance(first, Conflict)
    assert isinstance(second, str)


async def test_a_reservation_whose_answer_was_lost_gives_the_next_number(
    trees: OpenSearchTreeStore, between: Between
) -> None:
    between.next(f"_doc/{document_id('p')}", lost)
    assert await trees.reserve("p", "docs") == 2
    assert await trees.reserve("p", "docs") == 3


async def test_a_cluster_that_is_busy_for_a_moment_is_asked_again(trees: OpenSearchTreeStore, between: Between) -> None:
    await trees.put(live("p"), None)
    between.next("_search", answer(429), answer(503), answer(500))
    between.next("_refresh", answer(503))
    assert set(await trees.nodes(["p-1"])) == {"p-1"}


async def test_documents_of_a_shard_that_recovers_are_asked_for_again(
    trees: OpenSearchTreeStore, between: Between
) -> None:
    await trees.put(live("p"), None)
    error = {"type": "no_shard_available_action_exception", "reason": "RECOVERING"}
    between.next("_mget", say({"docs": [{"_index": "x", "_id": "y", "error": error}]}))
    assert await trees.get(live("p").key) is not None


@pytest.mark.parametrize(("status", "advice"), [(503, "503"), (401, "password"), (403, "may do"), (400, "the reason")])
async def test_a_cluster_that_goes_on_refusing_is_an_error_that_says_why(
    between: Between, name: str, status: int, advice: str
) -> None:
    async with (
        OpenSearch(between.url, patience=0.5) as server,
        OpenSearchTreeStore(server, name) as trees,
    ):
        between.next("_mget", *[answer(status, "the reason")] * 20)
        with pytest.raises(StoreUnavailable, match=advice):
            await trees.get("p")


async def test_a_cluster_that_is_not_there_is_an_error_that_names_it(name: str) -> None:
    (port,) = free_ports(1)
    async with OpenSearch(f"http://127.0.0.1:{port}", patience=0.3) as server:
        with pytest.raises(StoreUnavailable, match=rf"127\.0\.0\.1:{port} cannot be reached.*is it running"):
            async with OpenSearchTreeStore(server, name):
                pass


async def test_a_store_that_is_not_open_says_so(name: str) -> None:
    with pytest.raises(StoreUnavailable, match="not open"):
        await OpenSearchTreeStore(OpenSearch("http://127.0.0.1:1"), name).get("p")


async def test_what_was_acknowledged_survives_a_crash_and_what_is_asked_meanwhile_waits(
    opensearch: Node, name: str
) -> None:
    async with (
        OpenSearch(opensearch.url, patience=60.0) as server,
        OpenSearchTreeStore(server, name) as trees,
        OpenSearchWords(server, name) as words,
    ):
        revision = await trees.put(live("p"), None)
        await words.upsert([chunk("one", "alpha")])
        opensearch.process.kill()
        waiting = asyncio.gather(
            trees.put(live("p", seq=2), revision), words.upsert([chunk("two", "alpha")]), trees.reserve("p", "docs")
        )
        await asyncio.sleep(0.1)
        opensearch.start()  # not in another thread: the node would end with it
        _, __, seq = await waiting
        stored = await trees.get(live("p").key)
        assert stored is not None
        assert (stored.record.seq, seq) == (2, 1)
        assert len(await words.words(["alpha"], 5)) == 2


# --- indexes


async def test_a_write_through_an_alias_that_is_not_there_makes_no_index(
    server: OpenSearch, opensearch: Node, name: str
) -> None:
    with pytest.raises(StoreUnavailable, match="404"):
        await server.write(f"{name}-pages", StoredDocument("a", {}), None)
    with pytest.raises(StoreUnavailable, match="alias"):
        await server.bulk(f"{name}-pages", [BulkItem("a", {})])
    with pytest.raises(StoreUnavailable, match="no such index"):
        await server.documents(f"{name}-pages", ["a"])
    assert not await server.call(lambda client: client.indices.exists(index=f"{name}-pages"))


async def test_an_index_of_a_newer_ritbot_is_left_alone(server: OpenSearch, name: str) -> None:
    mapping = {"_meta": {"schema": 99}}
    await server.call(
        lambda client: client.indices.create(
            index=f"{name}-pages-7", body={"aliases": {f"{name}-pages": {}}, "mappings": mapping}
        )
    )
    with pytest.raises(StoreUnavailable, match=r"schema \[99\]"):
        async with OpenSearchTreeStore(server, name):
            pass


async def test_an_index_of_an_earlier_ritbot_gets_the_fields_that_came_since(server: OpenSearch, name: str) -> None:
    properties = {"key": WORD, "site": WORD, "seq": NUMBER, "state": UNINDEXED}
    mapping = {"dynamic": "strict", "_meta": {"schema": 1}, "properties": properties}
    body = {"aliases": {f"{name}-watch": {}}, "mappings": mapping}
    await server.call(lambda client: client.indices.create(index=f"{name}-watch-1", body=body))
    old = {
        "key": "old",
        "site": "docs",
        "seq": 7,
        "state": codec.WATCH.dump(WatchState("old", "docs", etag="e")).decode(),
    }
    await server.write(f"{name}-watch", StoredDocument(document_id("old"), old), None)
    async with OpenSearchTreeStore(server, name) as trees:
        await trees.watch(WatchState("new", "docs", due_at=datetime(2027, 1, 1, tzinfo=UTC)))
        found = [state async for state in trees.due("docs", datetime(2026, 1, 1, tzinfo=UTC))]
        assert found == [WatchState("old", "docs", seq=7, etag="e")]


async def test_stores_that_open_at_the_same_time_share_one_index(server: OpenSearch, name: str) -> None:
    async def put(path: str) -> None:
        async with OpenSearchTreeStore(server, name) as trees:
            await trees.put(without_page(path, "gone"), None)

    await asyncio.gather(*(put(str(number)) for number in range(6)))
    async with OpenSearchTreeStore(server, name) as trees:
        assert len([state async for state in trees.scan()]) == 6


async def test_the_index_behind_the_alias_may_be_another_one(server: OpenSearch, name: str) -> None:
    async with OpenSearchTreeStore(server, name) as trees:
        await trees.put(live("p"), None)
        pages = f"{name}-pages"
        mappings = (await server.call(lambda client: client.indices.get_mapping(index=pages)))[f"{pages}-1"]
        await server.call(lambda client: client.indices.create(index=f"{pages}-2", body=mappings))
        document = (await server.documents(pages, [document_id(live("p").key)]))[document_id(live("p").key)]
        await server.call(lambda client: client.index(index=f"{pages}-2", id=document.id, body=document.source))
        actions = [{"add": {"index": f"{pages}-2", "alias": pages}}, {"remove_index": {"index": f"{pages}-1"}}]
        await server.call(lambda client: client.indices.update_aliases(body={"actions": actions}))
        stored = await trees.get(live("p").key)
        assert stored is not None
        assert stored.record == live("p")
        await trees.put(live("p", seq=2), stored.revision)
        assert set(await trees.nodes(["p-1"])) == {"p-1"}


# --- details of these stores


async def test_refreshes_that_are_asked_for_side_by_side_are_shared(
    trees: OpenSearchTreeStore, between: Between, name: str
) -> None:
    await trees.put(live("p"), None)
    await asyncio.gather(*(trees.find("p") for _ in range(20)))
    assert len(between.bodies("_refresh")) <= 3


async def test_keys_far_longer_than_an_id_may_be_are_told_apart(trees: OpenSearchTreeStore) -> None:
    long = "/x" * 5000
    for path in (f"{long}1", f"{long}2"):
        await trees.put(live(path), None)
        await trees.watch(WatchState(live(path).key, "docs", etag=path))
    for path in (f"{long}1", f"{long}2"):
        assert await trees.get(live(path).key) is not None
        assert await trees.watched(live(path).key) == WatchState(live(path).key, "docs", etag=path)


async def test_watch_states_of_one_site_come_in_the_order_of_their_keys(trees: OpenSearchTreeStore) -> None:
    for key in ("c", "a", "site:docs"):
        await trees.watch(WatchState(key, "docs", interval=2.5, due_at=live("p").checked_at))
    await trees.watch(WatchState("b", "other"))
    await trees.reserve("b2", "docs")
    states = [state async for state in trees.watching("docs")]
    assert [state.key for state in states] == ["a", "b2", "c", "site:docs"]
    assert states[0] == await trees.watched("a") == WatchState("a", "docs", interval=2.5, due_at=live("p").checked_at)
    assert states[1] == WatchState("b2", "docs", 1)


async def test_waiting_for_the_refresh_makes_words_searchable_too(server: OpenSearch, name: str) -> None:
    async with OpenSearchWords(server, name, refresh="wait_for") as words:
        await words.upsert([chunk(number, "alpha") for number in range(3)])
        assert len(await words.words(["alpha"], 5)) == 3
        await words.delete([chunk(0).id])
        assert len(await words.words(["alpha"], 5)) == 2


async def test_of_a_very_long_question_the_chunk_that_answers_most_parts_is_best(words: OpenSearchWords) -> None:
    question = [f"t{number}" for number in range(2500)]
    both = chunk("both", "t0 t2400")
    await words.upsert([chunk("first", "t0 other"), chunk("last", "t2400 other"), both])
    assert [hit.chunk_id for hit in await words.words(question, 1)] == [both.id]
