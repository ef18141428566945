"""One run of the crash test on each column, from a site that is new to a verdict."""

from __future__ import annotations

import asyncio
import math
import os
import random
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from deploy.wiring.stores import SystemClock
from ingest.indexing.parse_process import ParseProcess
from ingest.ports import EventLog
from ingest.watch.crawl import Crawl
from tests.chaos.changing_site import ChangingSite
from tests.chaos.columns import TIMEOUT, Column, Stores, open_events, open_stores
from tests.chaos.contents import Held, contents, differences, strays
from tests.chaos.fleet import Fleet, Heard
from tests.chaos.reembeds import Reembeds
from tests.chaos.storm import Fault, Report, Storm
from tests.chaos.worker import ANY_LOSS, SITE, docs_site, make_indexer, open_fetcher
from tests.fakes.docsite import DocSite
from tests.fakes.qdrant_server import Fault as QdrantFault
from tests.fakes.qdrant_server import QdrantServer
from tests.servers.kafka import Kafka
from tests.servers.opensearch import OpenSearch
from tests.servers.qdrant import Served, own_name

EMBEDDED = {"all in one": "both"}
CLUSTER = {"watcher": "watch", "indexer": "index", "second indexer": "index"}
TWO_WATCHERS = {**CLUSTER, "second watcher": "watch"}
"""Members and their roles."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to happen: as many rounds as that, or as many as fit into `seconds`, as `seed` has it. `folder` is empty,
    and its name is that of the run's own topics and indexes on servers."""

    folder: Path
    seed: int
    rounds: float = math.inf
    seconds: float = math.inf


@dataclass(frozen=True, slots=True)
class Rig:
    """What runs and where: the members by name as commands, of these the ones that can run where nobody watches, the
    stores and the log that they share, and an index of the same site that is made at once, in peace."""

    everyone: Mapping[str, Sequence[str]]
    no_watcher: Mapping[str, Sequence[str]]
    open_stores: Callable[[], AbstractAsyncContextManager[Stores]]
    open_events: Callable[[], AbstractAsyncContextManager[EventLog]]
    open_scratch: Callable[[], AbstractAsyncContextManager[Stores]]


async def run_embedded(plan: Plan) -> Report:
    column = Column(folder=str(plan.folder))
    return await run(plan, lambda docs: workers(plan, column, EMBEDDED, docs), {})


async def run_cluster(
    plan: Plan, kafka: Kafka, opensearch: OpenSearch, qdrant: Served, roles: Mapping[str, str] = CLUSTER
) -> Report:
    """Nobody else may mind that Kafka and OpenSearch are away now and then. A real Qdrant is left in peace."""
    column = Column(
        kafka=kafka.address,
        opensearch=opensearch.url,
        qdrant=qdrant.url,
        name=own_name(plan.folder.name),
        models=str(plan.folder / "model"),
    )
    reembeds = Reembeds(column, qdrant.stand_in)
    faults: dict[str, Fault] = {
        "kafka": partial(stop, "Kafka stops", kafka),
        "opensearch": partial(stop, "OpenSearch stops", opensearch),
        "reembeds": reembeds,
    }
    if qdrant.stand_in:
        faults["qdrant"] = partial(spoil, qdrant.stand_in)
    report = await run(plan, lambda docs: workers(plan, column, roles, docs), faults)
    report.counts += reembeds.kills
    return report


async def run(plan: Plan, make_rig: Callable[[DocSite], Rig], faults: dict[str, Fault]) -> Report:
    """From a new site to a verdict."""
    chance, heard = random.Random(plan.seed), Heard()
    async with DocSite() as docs:
        site, rig = ChangingSite(docs, random.Random(chance.random())), make_rig(docs)
        async with rig.open_events() as events:
            storm = Storm(site, events, heard, chance, faults)
            async with Fleet(rig.everyone, heard) as fleet:
                await storm.rage(fleet, plan.rounds, plan.seconds)
                await storm.calm(fleet)
            async with rig.open_scratch() as stores:
                expected = await contents(stores, SITE, site.left)
            storm.report.wrong += await verdict(rig, site, expected)
            if rig.no_watcher:
                async with Fleet(rig.no_watcher, heard) as fleet:
                    await storm.echo(fleet)
                storm.report.wrong += [f"after the echo: {each}" for each in await verdict(rig, site, expected)]
            await storm.account()
    report = storm.report
    report.counts["pages compared"] = len(expected)
    report.counts += heard.outcomes
    return report


async def verdict(rig: Rig, site: ChangingSite, expected: Mapping[str, Held]) -> list[str]:
    """What is wrong in the stores."""
    async with rig.open_stores() as stores:
        return await strays(stores, SITE) + differences(await contents(stores, SITE, site.left), expected)


def workers(plan: Plan, column: Column, roles: Mapping[str, str], docs: DocSite) -> Rig:
    worker = [sys.executable, "-m", "tests.chaos.worker", column.dump(), docs.url("/")]
    return Rig(
        everyone={member: [*worker, role] for member, role in roles.items()},
        no_watcher={member: [*worker, "index"] for member, role in roles.items() if role != "watch"},
        open_stores=partial(open_stores, column),
        open_events=partial(open_events, column),
        open_scratch=partial(from_scratch, docs, plan.folder, column.models),
    )


@asynccontextmanager
async def from_scratch(docs: DocSite, folder: Path, models: str) -> AsyncIterator[Stores]:
    """One crawl of the site as it is now, into embedded stores, by the embedding model that is set."""
    site = docs_site(docs.url("/"))
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        async with (
            open_stores(Column(folder=scratch, models=models)) as stores,
            open_fetcher(site) as fetcher,
            ParseProcess() as parser,
        ):
            await Crawl(
                site,
                trees=stores.trees,
                fetcher=fetcher,
                parser=parser,
                make_indexer=partial(make_indexer, stores),
                clock=SystemClock(),
                guard=ANY_LOSS,
            ).run()
            yield stores


# --- what happens to servers


async def stop(name: str, server: Kafka | OpenSearch, chance: random.Random) -> str:
    """Stopped for a while, or ended at once, and started again on the same data."""
    pause = chance.uniform(0.5, TIMEOUT + 1.5)
    if chance.random() < 0.5:
        os.kill(server.process.pid, signal.SIGSTOP)
        try:
            await asyncio.sleep(pause)
        finally:
            os.kill(server.process.pid, signal.SIGCONT)
    else:
        server.process.kill()
        await asyncio.sleep(pause / 4)
        await asyncio.to_thread(server.start)
    return name


async def spoil(qdrant: QdrantServer, chance: random.Random) -> str:
    """Some requests fail before, after or half-way through their work, or answer too late."""
    faults = [
        QdrantFault(status=503),
        QdrantFault(status=500, applies="half"),
        QdrantFault(status=500, applies="all"),
        QdrantFault(delay=0.5),
        QdrantFault(delay=TIMEOUT + 0.5),
    ]
    for operation in ("upsert", "delete", "scroll"):
        chosen = chance.choices(faults, k=chance.randint(0, 2))
        qdrant.next(operation, *(each for each in chosen if operation != "scroll" or each.applies == "nothing"))
    return "Qdrant fails"
