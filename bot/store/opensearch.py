"""The bot's store on OpenSearch: one document an exchange, and one index for all that is small.

Reading by id is real-time. What is found by searching (a conversation, all exchanges, what names a person) is searched
after a refresh and then read by id: the search misses nothing that was kept before, and what is read is as it is now. A
conversation is looked up once a question, and a refresh with nothing new costs next to nothing, while waiting for one at
every write would hold up each sign of life by up to a second.

Exchanges, channel settings, counters and installations lie in their documents whole, kept but not indexed, so that no
limit on what can be searched holds for them; beside them stands what is searched for. Documents are found under a
sha256, since OpenSearch allows 512 bytes.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Self

from bot import codec
from bot.model import ChannelSettings, Exchange, Installation
from bot.ports import AskedInVain, VersionedExchange
from bot.store.sealing import Seal
from bot.store.stored import (
    MAX_EXCHANGES_READ,
    UNSORTED,
    closed,
    gap_of,
    in_vain,
    moment,
    nobodys,
    note_due,
    opened,
    parts,
    people,
    readable,
    without,
)
from ingest.errors import Conflict
from ingest.model import sha256
from ingest.ports import Clock
from ingest.stores.cluster.opensearch import (
    UNINDEXED,
    WORD,
    BulkItem,
    Json,
    OpenSearch,
    StoredDocument,
    index_of,
    over_conflicts,
)

EXCHANGES = index_of(
    {
        **dict.fromkeys(("question", "conversation", "asker", "people", "order", "nodes", "note", "gap"), WORD),
        "mark": UNINDEXED,
        "exchange": {"type": "object", "enabled": False},
    }
)
SMALL_DOCUMENTS = index_of(
    {
        **dict.fromkeys(("id", "kind", "people", "until"), WORD),
        "mark": UNINDEXED,
        "value": {"type": "double", "index": False, "doc_values": False},
        "kept": UNINDEXED,
    }
)


class OpenSearchBotStore:
    """Implements bot.ports.BotStore; any number of processes may open the indexes of one `name`."""

    def __init__(self, server: OpenSearch, name: str, seal: Seal, clock: Clock) -> None:
        self._server = server
        self._exchanges = f"{name}-exchanges"
        self._small = f"{name}-bot"
        self._seal = seal
        self._clock = clock

    async def __aenter__(self) -> Self:
        await self._server.ensure(self._exchanges, EXCHANGES)
        await self._server.ensure(self._small, SMALL_DOCUMENTS)
        return self

    async def __aexit__(self, *exc: object) -> None:
        """The connection is the caller's."""

    # --- exchanges

    async def exchange(self, question_id: str) -> VersionedExchange | None:
        document = await self._server.document(self._exchanges, sha256(question_id))
        return VersionedExchange(_exchange(document), document.revision) if document else None

    async def keep(self, exchange: Exchange, expected: str | None) -> str:
        question = exchange.question
        source = {
            "question": question.id,
            "conversation": question.conversation,
            "asker": question.user,
            "people": sorted(people(exchange)),
            "order": f"{moment(question.asked_at)} {question.id}",
            "nodes": sorted(exchange.nodes),
            "note": note_due(exchange),
            "gap": gap_of(exchange),
            "exchange": json.loads(codec.dump_exchange(exchange)),
        }
        document = StoredDocument(sha256(question.id), source)
        try:
            return await self._server.replace(self._exchanges, document, expected)
        except Conflict as conflict:
            raise Conflict(f"the exchange of {question.id} was changed by someone else meanwhile") from conflict

    async def conversation(self, key: str, most: int = 20) -> Sequence[Exchange]:
        if most <= 0:
            return []
        await self._server.refresh(self._exchanges)
        query = {"term": {"conversation": key}}
        body = {"query": query, "sort": [{"order": "desc"}], "size": most, "_source": False}
        hits = (await self._server.search(self._exchanges, body))["hits"]["hits"]
        return await self._now([hit["_id"] for hit in reversed(hits)])

    async def exchanges(self, since: datetime | None = None, until: datetime | None = None) -> AsyncIterator[Exchange]:
        bounds = {"gte": moment(since) if since else None, "lt": moment(until) if until else None}
        query = {"range": {"order": {name: bound for name, bound in bounds.items() if bound}}}
        await self._server.refresh(self._exchanges)
        ids: list[str] = []
        async for document in self._server.every(self._exchanges, query, "order", ["question"]):
            ids.append(document.id)
            if len(ids) == MAX_EXCHANGES_READ:
                for exchange in await self._now(ids):
                    yield exchange
                ids = []
        for exchange in await self._now(ids):
            yield exchange

    async def citing(self, nodes: Iterable[str]) -> AsyncIterator[str]:
        await self._server.refresh(self._exchanges)
        wanted = list(dict.fromkeys(nodes))
        async for document in self._server.every(self._exchanges, {"terms": {"nodes": wanted}}, "order", ["question"]):
            yield str(document.source["question"])

    async def due_notes(self, until: datetime, most: int = 20) -> Sequence[str]:
        if most <= 0:
            return []
        await self._server.refresh(self._exchanges)
        query = {"range": {"note": {"lte": moment(until)}}}
        body = {"query": query, "sort": [{"note": "asc"}, {"order": "asc"}], "size": most, "_source": ["question"]}
        hits = (await self._server.search(self._exchanges, body))["hits"]["hits"]
        return [hit["_source"]["question"] for hit in hits]

    async def asked_in_vain(self, gap: str | None = None) -> Sequence[AskedInVain]:
        await self._server.refresh(self._exchanges)
        query = {"exists": {"field": "gap"}} if gap is None else {"term": {"gap": gap or UNSORTED}}
        found = self._server.every(self._exchanges, query, "order", ["question", "order", "gap"])
        return [
            in_vain(each.source["question"], each.source["order"].partition(" ")[0], each.source["gap"])
            async for each in found
        ]

    async def expire(self, before: datetime) -> int:
        await self._server.remove(self._small, {"range": {"until": {"lte": moment(self._clock.now())}}}, "id")
        return await self._server.remove(self._exchanges, {"range": {"order": {"lt": moment(before)}}}, "order")

    async def forget(self, user: str) -> int:
        """One document after the other: what is cut short half-way is finished by doing it again."""
        gone = await self._server.remove(self._exchanges, {"term": {"asker": user}}, "order")
        named = {"term": {"people": user}}
        await self._server.refresh(self._exchanges)
        async for document in self._server.every(self._exchanges, named, "order", ["question"]):
            await over_conflicts(partial(self._part_with, document.source["question"], user))
        await self._server.refresh(self._small)
        async for document in self._server.every(self._small, _both(named, _of_kind("channel")), "id", ["id"]):
            await over_conflicts(partial(self._leave_unnamed, document.id, user))
        await self._server.remove(self._small, _both(named, _of_kind("counter")), "id")
        return gone

    async def _part_with(self, question_id: str, user: str) -> None:
        if kept := await self.exchange(question_id):
            await self.keep(without(kept.exchange, user), kept.revision)

    async def _leave_unnamed(self, channel: str, user: str) -> None:
        document = await self._server.document(self._small, channel)
        if document and user in document.source["people"]:
            settings = nobodys(_settings(document))
            await self._server.replace(
                self._small, StoredDocument(channel, _channel_source(settings)), document.revision
            )

    async def _now(self, ids: Sequence[str]) -> list[Exchange]:
        """In this order, as they are now; without those that are gone."""
        found = await self._server.documents(self._exchanges, ids)
        return [_exchange(found[each]) for each in ids if each in found]

    # --- channels

    async def channel(self, team: str, channel: str) -> ChannelSettings | None:
        document = await self._server.document(self._small, sha256("channel", team, channel))
        return _settings(document) if document else None

    async def set_channel(self, settings: ChannelSettings) -> None:
        source = _channel_source(settings)
        await self._server.bulk(self._small, [BulkItem(source["id"], source)])

    async def channels(self) -> AsyncIterator[ChannelSettings]:
        async for document in self._all("channel"):
            yield _settings(document)

    # --- counters

    async def add(self, counter: str, amount: float, until: datetime) -> float:
        counter_id = sha256("counter", counter)

        async def once() -> float:
            old = await self._server.document(self._small, counter_id)
            there = old.source if old and old.source["until"] > moment(self._clock.now()) else None
            value = (there["value"] if there else 0.0) + amount
            source = {
                "id": counter_id,
                "kind": "counter",
                "people": parts(counter),
                "until": there["until"] if there else moment(until),
                "value": value,
            }
            await self._server.replace(self._small, StoredDocument(counter_id, source), old.revision if old else None)
            return float(value)

        return await over_conflicts(once)

    async def counted(self, counter: str, now: datetime) -> float:
        document = await self._server.document(self._small, sha256("counter", counter))
        return float(document.source["value"]) if document and document.source["until"] > moment(now) else 0.0

    # --- installations

    async def installation(self, enterprise: str, team: str) -> Installation | None:
        document = await self._server.document(self._small, sha256("installation", enterprise, team))
        return self._opened(document) if document else None

    async def install(self, installation: Installation) -> None:
        installation_id = sha256("installation", installation.enterprise, installation.team)
        kept = codec.dump_installation(closed(installation, self._seal)).decode()
        source = {"id": installation_id, "kind": "installation", "people": [], "kept": kept}
        await self._server.bulk(self._small, [BulkItem(installation_id, source)])

    async def uninstall(self, enterprise: str, team: str) -> None:
        await self._server.bulk(self._small, [BulkItem(sha256("installation", enterprise, team))])

    async def installations(self) -> AsyncIterator[Installation]:
        async for document in self._all("installation"):
            yield self._opened(document)

    def _opened(self, document: StoredDocument) -> Installation:
        with readable("an installation"):
            installation = codec.load_installation(document.source["kept"].encode())
        return opened(installation, self._seal)

    # --- documents

    async def _all(self, kind: str) -> AsyncIterator[StoredDocument]:
        """All that were stored before the call."""
        await self._server.refresh(self._small)
        async for document in self._server.every(self._small, _of_kind(kind), "id"):
            yield document


def _exchange(document: StoredDocument) -> Exchange:
    with readable(str(document.source["question"])):
        return codec.load_exchange(json.dumps(document.source["exchange"]).encode())


def _settings(document: StoredDocument) -> ChannelSettings:
    with readable("a channel's settings"):
        return codec.load_channel(document.source["kept"].encode())


def _channel_source(settings: ChannelSettings) -> Json:
    return {
        "id": sha256("channel", settings.team, settings.channel),
        "kind": "channel",
        "people": [settings.changed_by],
        "kept": codec.dump_channel(settings).decode(),
    }


def _of_kind(kind: str) -> Json:
    return {"term": {"kind": kind}}


def _both(one: Json, other: Json) -> Json:
    return {"bool": {"filter": [one, other]}}
