"""Retrieval on real questions: is the gold section in the forest, and what does the forest cost?

    make bench-retrieval [HTML=folder QUESTIONS=file] [MODEL=folder]

For the paper's recipe, each of ritbot's changes to it alone, and all of them. forest@n: the gold section is in
the forest of the n best nodes; page@n: the gold page holds one of them (in percent). Then, with ritbot's recipe:
tokens of S(F), counted by the embedding model's tokenizer, and the extracts: how often the gold section, and the gold page, is among the nodes cited, and how many questions that the
documentation does not answer are turned away.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean

import structlog

from deploy.wiring.evaluation import aliases_of
from ingest.indexing.indexer import Indexer
from ingest.indexing.parse_process import ParseProcess
from ingest.model import Scope, Site
from ingest.ports import Outline
from ingest.sites.folder import FolderFetcher
from ingest.stores.embedded.chunks import EdgeChunkIndex
from ingest.stores.embedded.trees import SqliteTreeStore
from ingest.text.chunks import Sizes
from ingest.urls import page_key
from ingest.watch.crawl import Crawl
from ingest.watch.cycle_summary import Everything
from ingest.watch.removal_guard import Guard
from navigator.agent.prompts import RitBounds
from navigator.evaluation.gold import Aliases
from navigator.extracts.model import ExtractiveModel
from navigator.navigator import Navigator
from navigator.retrieval.forest import Numbering
from navigator.retrieval.lexicon import Lexicon
from navigator.retrieval.node_selection import cover_ancestors
from navigator.retrieval.retriever import RECIPES, Found, Recipe, Retriever
from navigator.retrieval.toc import render_toc
from navigator.strategies.rit import Rit
from tests.bench.corpus import CACHE, CachedEmbedder, Question, embedder, html_folder, questions

UNANSWERABLE = Path(__file__).parent / "data" / "unanswerable.txt"
SIZES = (160, 64)
MODEL = [Path(os.environ["MODEL"]).name] if os.environ.get("MODEL") else []
PLAIN, OURS = RECIPES["plain"], RECIPES["ritbot"]
ABLATION = {
    "the paper's recipe": PLAIN,
    "kappa 30": replace(PLAIN, kappa=OURS.kappa),
    "a page speaks for its sections": replace(PLAIN, page_share=OURS.page_share),
    "ancestors take no place": replace(PLAIN, cover=True),
    "ritbot's: all three": OURS,
}


class WallClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


async def index(site: Site, trees: SqliteTreeStore, chunks: EdgeChunkIndex, model: CachedEmbedder) -> None:
    """One round over the site's folder; what has not changed costs nothing."""
    started = time.monotonic()
    async with FolderFetcher(site) as fetcher, ParseProcess() as parser:
        sizes = Sizes.fit(model.window, *SIZES)
        clock = WallClock()
        summary = await Crawl(
            site,
            trees=trees,
            fetcher=fetcher,
            parser=parser,
            make_indexer=lambda site, reader: Indexer(
                site, trees=trees, index=chunks, embedder=model, reader=reader, clock=clock, sizes=sizes
            ),
            clock=clock,
            guard=Guard(),
            everything=Everything(accept=True),
        ).run()
    print(
        f"indexed {summary.cycle.done} pages, {summary.nodes} nodes, {summary.chunks} chunks ({model.misses} texts embedded "
        f"now) in {time.monotonic() - started:.0f} s: {dict(summary.outcomes)}"
    )


class Judge:
    """Knows where the gold sections are."""

    def __init__(self, folder: Path, pages: dict[str, Outline], aliases: Aliases, asked: Sequence[Question]) -> None:
        self.keys = {q: page_key((folder / q.page).as_uri()) for q in asked}
        self._pages = pages
        self._aliases = aliases
        self.with_section = [q for q in asked if q.anchor and self.gold(q)]
        lost = [q for q in asked if q.anchor and not self.gold(q)]
        for question in lost:
            print(f"  gold anchor is no node: {question.page}#{question.anchor}")

    def gold(self, question: Question) -> str | None:
        key = self.keys[question]
        own = {h.anchor: h.id for h in reversed(self._pages[key].headings)} if key in self._pages else {}
        return own.get(question.anchor) or self._aliases.get(key, {}).get(question.anchor or "")

    def in_forest(self, question: Question, nodes: Sequence[str]) -> bool:
        """The gold section is one of the nodes or an ancestor of one."""
        page, gold = self._pages[self.keys[question]], self.gold(question)
        parents = {h.id: h.parent for h in page.headings}
        for node in nodes:
            current: str | None = node if node in parents else None
            while current is not None:
                if current == gold:
                    return True
                current = parents[current]
        return False

    def on_page(self, question: Question, nodes: Sequence[str]) -> bool:
        page = self._pages.get(self.keys[question])
        return page is not None and bool({h.id for h in page.headings}.intersection(nodes))


def percent(hits: Sequence[bool]) -> float:
    return 100 * sum(hits) / len(hits) if hits else 0.0


def prefix(found: Found, n: int, recipe: Recipe) -> list[str]:
    """The nodes that the recipe takes for a smaller n."""
    if not recipe.cover:
        return list(found.scores)[:n]
    parents = {heading.id: heading.parent for page in found.pages for heading in page.headings}
    return list(cover_ancestors(found.scores, parents, n))


async def retrieval(retriever: Retriever, recipe: Recipe, judge: Judge, asked: Sequence[Question]) -> None:
    ranked: dict[Question, Found] = {}
    started = time.monotonic()
    for question in asked:
        ranked[question] = await retriever.search(question.text, Scope())
    seconds = time.monotonic() - started
    row = [
        f"forest@{n} {percent([judge.in_forest(q, prefix(ranked[q], n, recipe)) for q in judge.with_section]):.1f}"
        for n in (3, 10, 50)
    ]
    row += [f"page@{n} {percent([judge.on_page(q, prefix(ranked[q], n, recipe)) for q in asked]):.1f}" for n in (3, 50)]
    print("  ".join(row) + f"  {1000 * seconds / len(asked):.0f} ms a question")


async def forests(retriever: Retriever, asked: Sequence[Question], count: Callable[[str], int]) -> None:
    found = [await retriever.forest(question.text, Scope(), Numbering()) for question in asked]
    outline, as_json = (mean(count(render_toc(forest, form)) for forest in found) for form in ("outline", "json"))
    print(f"S(F): outline {outline:.0f} tokens, JSON {as_json:.0f}, ratio {outline / as_json:.3f}")


async def extracts(navigator: Navigator, judge: Judge, asked: Sequence[Question]) -> None:
    answers = {q: await navigator.ask(q.text) for q in asked}
    cited = {q: [s.first.node_id for s in a.sources] for q, a in answers.items()}
    answered = [a.outcome == "answered" for a in answers.values()]
    print(
        f"extracts: {percent(answered):.1f}% answered; gold section cited {percent([judge.gold(q) in cited[q] for q in judge.with_section]):.1f}%, "
        f"cited or above a cited one {percent([judge.in_forest(q, cited[q]) for q in judge.with_section]):.1f}%, "
        f"gold page cited {percent([judge.on_page(q, cited[q]) for q in asked]):.1f}%; "
        f"{mean(len(c) for c in cited.values()):.1f} nodes cited; {mean(a.trace.seconds for a in answers.values()):.2f} s an answer"
    )
    foreign = [
        await navigator.ask(line) for line in UNANSWERABLE.read_text(encoding="utf-8").splitlines() if line.strip()
    ]
    print(
        f"unanswerable questions turned away: {percent([a.outcome == 'not_found' for a in foreign]):.1f}% of {len(foreign)}"
    )


async def main() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    folder, asked = html_folder(), questions()
    store = CACHE / "index" / "-".join([folder.name, *MODEL])
    store.mkdir(parents=True, exist_ok=True)
    async with (
        embedder() as model,
        SqliteTreeStore(store / "trees.sqlite") as trees,
        EdgeChunkIndex(store / "chunks", model.dimensions) as chunks,
    ):
        await index(Site("bench", str(folder)), trees, chunks, model)
        keys = [state.key async for state in trees.scan() if state.state == "live"]
        judge = Judge(folder, dict(await trees.outlines(keys)), await aliases_of(trees, keys), asked)
        print(f"{len(asked)} questions, {len(judge.with_section)} with a gold section; {len(keys)} live pages")
        await model.embed([question.text for question in asked])
        for name, recipe in ABLATION.items():
            print(f"{name:<32}", end="")
            await retrieval(Retriever(trees, chunks, model, recipe), recipe, judge, asked)
        retriever = Retriever(trees, chunks, model, Recipe())
        await forests(retriever, asked, model.count)
        extractive = ExtractiveModel(model, Lexicon(chunks, trees, retriever.languages))
        navigator = Navigator({"rit": Rit(retriever, trees, RitBounds())}, extractive, lambda _: "rit")
        await extracts(navigator, judge, asked)


if __name__ == "__main__":
    asyncio.run(main())
