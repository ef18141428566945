"""What the bot's store leaves on disk and on a server, beside what its suite of the port sees."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from bot.model import ChannelSettings, Feedback
from bot.store.opensearch import OpenSearchBotStore
from bot.store.sealing import KeySeal
from bot.store.sqlite import SqliteBotStore
from ingest.errors import StoreUnavailable
from ingest.stores.cluster.opensearch import OpenSearch
from tests.contract.conftest import KEY, remove
from tests.fakes.exchanges import NOON, TOKEN, SetClock, answer, answered, installation, question, waiting
from tests.servers.opensearch import OpenSearch as Node

PERSON = "U0PERSON77"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "bot.sqlite"


@pytest.fixture
def name(opensearch: Node) -> Iterator[str]:
    name = f"test-{uuid4().hex[:12]}"
    yield name
    remove(f"{opensearch.url}/{name}-*")


def on_disk(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))


def sqlite(path: Path) -> SqliteBotStore:
    return SqliteBotStore(path, KeySeal([KEY]), SetClock())


def asked(url: str, path: str) -> bytes:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(f"{url}/{path}") as response:
        content: bytes = response.read()
    return content


async def test_no_file_holds_a_token(path: Path) -> None:
    async with sqlite(path) as store:
        await store.install(installation())
        assert TOKEN.encode() not in on_disk(path)
    assert b"UBOT" in on_disk(path)
    assert TOKEN.encode() not in on_disk(path)


async def test_no_document_holds_a_token(opensearch: Node, name: str) -> None:
    async with (
        OpenSearch(opensearch.url) as server,
        OpenSearchBotStore(server, name, KeySeal([KEY]), SetClock()) as store,
    ):
        await store.install(installation())
        await server.refresh(f"{name}-bot")
        found = asked(opensearch.url, f"{name}-bot/_search")
    assert b"UBOT" in found
    assert TOKEN.encode() not in found


async def test_once_closed_no_file_holds_anything_of_a_person_that_was_forgotten(path: Path) -> None:
    async with sqlite(path) as store:
        revision = await store.keep(waiting(1, user=PERSON, text="words of the person"), None)
        await store.keep(
            replace(answered(1, user=PERSON, text="words of the person"), answer=answer(200_000)), revision
        )
        await store.keep(replace(answered(2), feedback=(Feedback(PERSON, "bad", NOON, "words of the person"),)), None)
        await store.set_channel(ChannelSettings("T1", "C1", changed_by=PERSON))
        await store.add(f"asked:user:T1:{PERSON}:2026-05-01T12", 1, NOON.replace(year=2027))
    assert PERSON.encode() in on_disk(path)
    async with sqlite(path) as store:
        assert await store.forget(PERSON) == 1
    assert PERSON.encode() not in on_disk(path)
    assert b"words of the person" not in on_disk(path)
    assert question(2).id.encode() in on_disk(path)


async def test_no_document_names_a_person_that_was_forgotten(opensearch: Node, name: str) -> None:
    async with (
        OpenSearch(opensearch.url) as server,
        OpenSearchBotStore(server, name, KeySeal([KEY]), SetClock()) as store,
    ):
        await store.keep(answered(1, user=PERSON), None)
        await store.keep(replace(answered(2), feedback=(Feedback(PERSON, "bad", NOON, "not good"),)), None)
        await store.set_channel(ChannelSettings("T1", "C1", changed_by=PERSON))
        await store.add(f"asked:user:T1:{PERSON}:2026-05-01T12", 1, NOON.replace(year=2027))
        assert await store.forget(PERSON) == 1
        for index in ("exchanges", "bot"):
            await server.refresh(f"{name}-{index}")
        found = asked(opensearch.url, f"{name}-*/_search")
    assert question(2).id.encode() in found
    assert PERSON.encode() not in found
    assert b"not good" not in found


async def test_what_cannot_be_read_is_named(path: Path) -> None:
    async with sqlite(path) as store:
        await store.keep(waiting(), None)
        await store.set_channel(ChannelSettings("T1", "C1"))
        await store.install(installation())
        with closing(sqlite3.connect(path)) as damaging, damaging:
            damaging.execute("UPDATE exchanges SET exchange = '{}'")
            damaging.execute("UPDATE channels SET settings = '{}'")
            damaging.execute("UPDATE installations SET installation = '{}'")
        for reading, what in (
            (store.exchange(waiting().question.id), waiting().question.id),
            (store.conversation(waiting().question.conversation), waiting().question.id),
            (store.channel("T1", "C1"), "a channel's settings"),
            (store.installation("", "T1"), "an installation"),
        ):
            with pytest.raises(StoreUnavailable, match=f"what is stored of {what} cannot be read: put a backup"):
                await reading


async def test_a_file_of_a_newer_ritbot_is_refused(path: Path) -> None:
    async with sqlite(path):
        pass
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreUnavailable, match="newer ritbot"):
        async with sqlite(path):
            pass


async def test_a_store_that_is_not_open_says_so(path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="is not open"):
        await sqlite(path).exchange("q")


async def test_a_write_whose_answer_was_lost_is_known_as_its_own(opensearch: Node, name: str) -> None:
    """As the connection repeats it: the same document comes twice."""
    async with Twice(opensearch.url) as server, OpenSearchBotStore(server, name, KeySeal([]), SetClock()) as store:
        revision = await store.keep(waiting(), None)
        await store.keep(answered(), revision)
        there = await store.exchange(waiting().question.id)
        assert there is not None
        assert there.exchange == answered()
        sums = [await store.add("c", 1, NOON.replace(year=2027)) for _ in range(3)]
        assert sums == [1.0, 2.0, 3.0]


class Twice(OpenSearch):
    """Every write is sent a second time after it was done."""

    async def write(self, alias: str, document: object, expected: str | None) -> str:
        await super().write(alias, document, expected)  # type: ignore[arg-type]
        return await super().write(alias, document, expected)  # type: ignore[arg-type]


async def test_many_may_make_the_indexes_at_once(opensearch: Node, name: str) -> None:
    async def one() -> None:
        async with OpenSearch(opensearch.url) as server, OpenSearchBotStore(server, name, KeySeal([]), SetClock()):
            pass

    await asyncio.gather(*(one() for _ in range(4)))
    aliases = json.loads(asked(opensearch.url, f"_alias/{name}-*"))
    assert sorted(aliases) == [f"{name}-bot-1", f"{name}-exchanges-1"]


async def test_the_mappings_are_strict_and_what_is_kept_is_not_indexed(opensearch: Node, name: str) -> None:
    async with OpenSearch(opensearch.url) as server, OpenSearchBotStore(server, name, KeySeal([]), SetClock()) as store:
        await store.keep(answered(), None)
        mappings = json.loads(asked(opensearch.url, f"{name}-exchanges/_mapping"))
        fields = mappings[f"{name}-exchanges-1"]["mappings"]
        assert fields["dynamic"] == "strict"
        assert fields["properties"]["exchange"] == {"type": "object", "enabled": False}
