"""What ritbot costs as a site grows: a made-up site of N pages, an embedder that costs nothing, the embedded stores.

    python -m tests.bench.bench_scale             # PAGES=1000,20000 EDITS=5 QUESTIONS=100 by the environment

Each size in a process of its own, so that its peak memory is its own; figures are told as they come. Processor seconds are of ritbot with the process that
reads pages. An edit is told by the folder's file watch, or by the webhook; either way watcher and indexer run as in
`ritbot serve`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from array import array
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import structlog

from deploy.wiring.stores import SystemClock
from ingest.backup.archive import put_back, write
from ingest.backup.trees import tree_sections
from ingest.events.announce import Announcer, to_log
from ingest.events.sqlite import SqliteEventLog
from ingest.events.topics import PAGES as TOPIC
from ingest.indexing.indexer import Indexer
from ingest.indexing.indexers import Indexers
from ingest.indexing.page_reader import PageReader
from ingest.indexing.parse_process import ParseProcess
from ingest.indexing.projection import Projection
from ingest.indexing.reconcile import Reconciler
from ingest.indexing.service import INDEXER_GROUP, Attempts, IndexerService
from ingest.model import Scope, Site
from ingest.ports import Fetched, Fetcher, Vector
from ingest.sites.folder import FolderFetcher
from ingest.stores.embedded.chunks import EdgeChunkIndex
from ingest.stores.embedded.trees import SqliteTreeStore
from ingest.text.chunks import Sizes
from ingest.watch.crawl import Crawl
from ingest.watch.removal_guard import Guard
from ingest.watch.schedule import Pace
from ingest.watch.watcher import SiteWatcher
from navigator.agent.prompts import RitBounds
from navigator.extracts.model import ExtractiveModel
from navigator.navigator import Navigator
from navigator.retrieval.forest import Numbering
from navigator.retrieval.lexicon import Lexicon
from navigator.retrieval.retriever import Recipe, Retriever
from navigator.retrieval.toc import render_toc
from navigator.strategies.rit import Rit
from tests.fakes.site import html

COUNTS = [int(count) for count in os.environ.get("PAGES", "1000,20000").split(",")]
EDITS = int(os.environ.get("EDITS", "5"))
QUESTIONS = int(os.environ.get("QUESTIONS", "100"))
PLACE = Path("/dev/shm") if Path("/dev/shm").is_dir() else None
BASE = "https://docs.example/"
PER_FOLDER = 50
SECTIONS = 5
SIZES = Sizes(160, 64)
_SYLLABLES = "ba ce di fo gu ha ke li mo nu pa re si to vu wa xe zi".split()
_WORDS = [a + b + c for a in _SYLLABLES for b in _SYLLABLES for c in _SYLLABLES]
_GLANCE = 0.005


def path_of(page: int) -> str:
    return f"g{page // PER_FOLDER}/p{page}.html"


def page_html(page: int, extra: str = "") -> str:
    """Five sections of some hundred words that are rarer the longer the list, a breadcrumb, a sidebar of its folder."""
    chance = random.Random(page)
    folder, first = page // PER_FOLDER, page // PER_FOLDER * PER_FOLDER
    bar = "".join(f"<li><a href='p{n}.html'>Page {n}</a>" for n in range(first, first + PER_FOLDER))
    crumbs = (
        f"<nav class='breadcrumb'><a href='../index.html'>Docs</a> <a href='p{first}.html'>Group {folder}</a></nav>"
    )

    def words(count: int) -> str:
        return " ".join(_WORDS[int(len(_WORDS) * chance.random() ** 3)] for _ in range(count))

    parts = (f"<h2 id='s{n}'>{words(3)}</h2><p>{words(70)}.</p><p>{words(40)}.</p>" for n in range(SECTIONS))
    text = html(f"{words(2)} {page}", f"{crumbs}<main>{extra}{''.join(parts)}</main>")
    return text.replace("<body>", f"<body><nav class='sidebar'><ul>{bar}</ul></nav>")


class FreeEmbedder:
    """An Embedder that only hashes words."""

    name, dimensions, window = "free", 384, 256

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [self._vector(text) for text in texts]

    async def embed_query(self, text: str) -> Vector:
        return self._vector(text)

    def count(self, text: str) -> int:
        return text.count(" ") + 1

    def _vector(self, text: str) -> Vector:
        vector = array("f", bytes(4 * self.dimensions))
        for word in text.lower().split():
            vector[zlib.crc32(word.encode()) % self.dimensions] += 1.0
        return vector


class Overlaid:
    """The folder's fetcher; `pages` are published, and no file of theirs was touched."""

    def __init__(self, inner: Fetcher, pages: dict[str, str]) -> None:
        self._inner = inner
        self._pages = pages

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> Fetched:
        if url in self._pages:
            return Fetched(url, 200, self._pages[url].encode(), "text/html")
        return await self._inner.fetch(url, etag=etag, last_modified=last_modified)


class Counted:
    """A store; `calls` by method."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        self.calls[name] += 1
        return getattr(self._inner, name)


def cpu() -> float:
    """Processor seconds of this process, and of its children that run or have ended."""
    own = os.times()
    ticks = os.sysconf("SC_CLK_TCK")
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()
    running = 0.0
    for child in children:
        fields = Path(f"/proc/{child}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        running += (int(fields[11]) + int(fields[12])) / ticks
    return own.user + own.system + own.children_user + own.children_system + running


def peak() -> int:
    """Megabytes that were resident, with what is mapped from files."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def own() -> int:
    """Megabytes that the kernel could not take back."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    [kilobytes] = [line.split()[1] for line in status.splitlines() if line.startswith("RssAnon")]
    return int(kilobytes) // 1024


@dataclass(slots=True)
class Bench:
    count: int
    folder: Path
    trees: SqliteTreeStore
    index: EdgeChunkIndex
    parser: ParseProcess
    clock: SystemClock = field(default_factory=SystemClock)
    embedder: FreeEmbedder = field(default_factory=FreeEmbedder)
    overlay: dict[str, str] = field(default_factory=dict)
    figures: dict[str, str] = field(default_factory=dict)

    @property
    def site(self) -> Site:
        return Site("docs", str(self.folder / "html"), base_url=BASE)

    @asynccontextmanager
    async def open_fetcher(self, site: Site) -> AsyncIterator[Fetcher]:
        async with FolderFetcher(site) as fetcher:
            yield Overlaid(fetcher, self.overlay)

    def indexer(self, site: Site, reader: PageReader) -> Indexer:
        return Indexer(
            site,
            trees=self.trees,
            index=self.index,
            embedder=self.embedder,
            reader=reader,
            clock=self.clock,
            sizes=SIZES,
        )

    def tell(self, what: str, figure: str) -> None:
        self.figures[what] = figure
        print(f"{self.count:,} pages: {what}: {figure}", file=sys.stderr, flush=True)

    async def crawl(self, what: str) -> None:
        wall, processor = time.perf_counter(), cpu()
        async with self.open_fetcher(self.site) as fetcher:
            summary = await Crawl(
                self.site,
                trees=self.trees,
                fetcher=fetcher,
                parser=self.parser,
                make_indexer=self.indexer,
                clock=self.clock,
                guard=Guard(),
            ).run()
        assert summary.cycle.done == self.count, summary
        self.spent(what, time.perf_counter() - wall, cpu() - processor)
        self.tell("chunks", str(summary.chunks))

    def spent(self, what: str, wall: float, processor: float) -> None:
        self.tell(f"{what}: seconds", f"{wall:.1f}")
        self.tell(f"{what}: CPU ms a page", f"{1000 * processor / self.count:.2f}")
        self.tell(f"{what}: memory, MB: peak so far, own", f"{peak()}, {own()}")

    async def edits(self) -> None:
        """Watcher and indexer run; the first cycle, which lists the site, is over."""
        with tempfile.TemporaryDirectory(dir=PLACE) as folder:
            async with SqliteEventLog(Path(folder) / "events.sqlite", self.clock) as log:
                await self._edits(log)

    async def _edits(self, log: SqliteEventLog) -> None:
        announcer = Announcer(self.trees, to_log(log), self.clock)

        def make(site: Site, fetcher: Fetcher) -> Indexer:
            return self.indexer(site, PageReader(site, fetcher, self.parser))

        watcher = SiteWatcher(
            self.site,
            trees=self.trees,
            log=log,
            open_fetcher=self.open_fetcher,
            parser=self.parser,
            clock=self.clock,
            pace=Pace(),
            guard=Guard(),
        )
        async with (
            Indexers({"docs": self.site}, make=make, open_fetcher=self.open_fetcher, clock=self.clock) as indexers,
            asyncio.TaskGroup() as group,
        ):
            service = IndexerService(
                log, indexers.handle, announcer=announcer, attempts=Attempts(self.trees), clock=self.clock
            )
            serving, watching = group.create_task(service.run()), group.create_task(watcher.run())
            processor, wall = cpu(), time.perf_counter()
            await self.at_rest(log, processor)
            self.spent("a watch cycle that lists the site", time.perf_counter() - wall, cpu() - processor)
            for how in ("file watch", "webhook"):
                took = [await self.edited(how, watcher, log, number) for number in range(EDITS)]
                walls, processors = zip(*took, strict=True)
                figure = f"{statistics.median(walls):.2f}, {max(walls):.2f}"
                self.tell(f"edited page, {how}: seconds until searchable, median and most", figure)
                self.tell(f"edited page, {how}: CPU seconds, median", f"{statistics.median(processors):.2f}")
            watching.cancel()
            service.stop()
            await serving

    async def at_rest(self, log: SqliteEventLog, since: float) -> None:
        """Nothing more is done for half a second: whatever an edit sets off counts for it."""
        while True:
            before = cpu()
            await asyncio.sleep(0.5)
            if cpu() - before < 0.05 and cpu() - since > 0.0 and await log.lag(TOPIC, INDEXER_GROUP) == 0:
                return

    async def edited(self, how: str, watcher: SiteWatcher, log: SqliteEventLog, number: int) -> tuple[float, float]:
        page, word = (number * 997 + len(how)) % self.count, f"zebra{how[0]}{number}"
        text = page_html(page, f"<p>{word}.</p>")
        processor, wall = cpu(), time.perf_counter()
        if how == "webhook":
            self.overlay[BASE + path_of(page)] = text
            await watcher.ask([BASE + path_of(page)])
        else:
            (self.folder / "html" / path_of(page)).write_text(text, encoding="utf-8")
        while not await self.index.words([word], 1):  # noqa: ASYNC110 - polled as a reader would
            await asyncio.sleep(_GLANCE)
        found = time.perf_counter() - wall
        await self.at_rest(log, processor)
        return found, cpu() - processor

    async def questions(self) -> None:
        trees: Any = Counted(self.trees)
        index: Any = Counted(self.index)
        retriever = Retriever(trees, index, self.embedder, Recipe())
        chance = random.Random(2)
        asked = [" ".join(_WORDS[int(len(_WORDS) * chance.random() ** 2)] for _ in range(6)) for _ in range(QUESTIONS)]
        took: list[float] = []
        tokens: list[int] = []
        for question in asked:
            began = time.perf_counter()
            forest = await retriever.forest(question, Scope(), Numbering())
            took.append(time.perf_counter() - began)
            tokens.append(self.embedder.count(render_toc(forest)))
        self.tell("GetToC: ms, the first after a change", f"{1000 * took[0]:.0f}")
        self.tell("GetToC: ms, p50 and p95", spread([1000 * seconds for seconds in took[1:]]))
        self.tell("S(F): words, p50 and p95", spread(tokens))
        retriever = Retriever(trees, index, self.embedder, Recipe())
        extractive = ExtractiveModel(self.embedder, Lexicon(index, trees, retriever.languages))
        navigator = Navigator({"rit": Rit(retriever, trees, RitBounds())}, extractive, lambda _: "rit")
        for what, some in (("the first", asked[:1]), ("the mean of ten more", asked[1:11])):
            trees.calls.clear()
            index.calls.clear()
            for question in some:
                await navigator.ask(question)
            each = (f"{store.calls.total() / len(some):.1f}" for store in (trees, index))
            self.tell(f"calls an answer, {what}: SQLite, Edge", ", ".join(each))

    async def restore(self) -> None:
        """Backup of the trees into a file, and from it into new stores."""
        wall, processor = time.perf_counter(), cpu()
        with tempfile.TemporaryDirectory(dir=PLACE) as name:
            folder = Path(name)
            with (folder / "backup").open("wb") as file:
                await write(file, tree_sections(self.trees, ["docs"]), version="bench", now=self.clock.now())
            self.spent("backup", time.perf_counter() - wall, cpu() - processor)
            wall, processor = time.perf_counter(), cpu()
            async with (
                SqliteTreeStore(folder / "trees.sqlite") as trees,
                EdgeChunkIndex(folder / "chunks", self.embedder.dimensions) as index,
            ):
                with (folder / "backup").open("rb") as file:
                    await put_back(file, tree_sections(trees))
                projection = Projection(index, self.embedder, SIZES)
                report = await Reconciler(trees, index, projection, {"docs": "en"}, repair=True).run()
            assert report["docs"].in_step, report
            self.spent("restore", time.perf_counter() - wall, cpu() - processor)

    def disk(self, what: str, *folders: str) -> None:
        files = [path for name in folders for path in self.folder.rglob(f"{name}*/**/*") if path.is_file()]
        files += [path for name in folders for path in self.folder.glob(f"{name}*") if path.is_file()]
        self.tell(what, f"{sum(path.stat().st_blocks * 512 for path in files) / 1024 / self.count:.1f}")


def spread(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.0f}, {statistics.quantiles(values, n=20, method='inclusive')[18]:.0f}"


async def measure(count: int) -> dict[str, str]:
    with tempfile.TemporaryDirectory(dir=PLACE) as name:
        folder = Path(name)
        for page in range(count):
            path = folder / "html" / path_of(page)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(page_html(page), encoding="utf-8")
        async with (
            SqliteTreeStore(folder / "trees.sqlite") as trees,
            EdgeChunkIndex(folder / "chunks", FreeEmbedder.dimensions) as index,
            ParseProcess() as parser,
        ):
            bench = Bench(count, folder, trees, index, parser, figures={"memory at the start, MB": str(peak())})
            await bench.crawl("first index")
            bench.disk("trees on disk, KB a page", "trees.sqlite")
            bench.disk("chunks on disk, KB a page", "chunks")
            await bench.crawl("the same pages again")
            await bench.edits()
            await bench.questions()
            await bench.restore()
            return bench.figures


def main() -> None:
    columns = []
    for count in COUNTS:
        done = subprocess.run(
            [sys.executable, "-m", __spec__.name, str(count)], check=True, stdout=subprocess.PIPE, text=True
        )
        columns.append(json.loads(done.stdout))
    print(f"| {'':70} | " + " | ".join(f"{f'{count:,} pages':>14}" for count in COUNTS) + " |")
    print(f"|{'-' * 72}|" + "|".join("-" * 16 for _ in COUNTS) + "|")
    for what in columns[0]:
        print(f"| {what:70} | " + " | ".join(f"{column[what]:>14}" for column in columns) + " |")


if __name__ == "__main__":
    structlog.configure(
        logger_factory=structlog.ReturnLoggerFactory(), processors=[structlog.processors.JSONRenderer()]
    )
    logging.disable(logging.CRITICAL)
    if len(sys.argv) > 1:
        print(json.dumps(asyncio.run(measure(int(sys.argv[1])))))
    else:
        main()
