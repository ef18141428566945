"""Words that search must tell apart, each kind by itself: names that stand only in a heading, a term or code, versions,
compounds, languages side by side on one site that names none.

    make bench-words

Small pages and questions of our own (data/words, data/words.jsonl), with the real embedding model and without a language
model. nearest: the gold section is the best node of the search; first: it is the first that the extracts cite; alone: they
cite no other; found: something was found. Then, of questions that no page answers, how many are turned away.
"""

from __future__ import annotations

import asyncio
import json
import logging
import tempfile
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import structlog

from ingest.model import Scope, Site
from ingest.stores.embedded.chunks import EdgeChunkIndex
from ingest.stores.embedded.trees import SqliteTreeStore
from ingest.urls import page_key
from navigator.agent.prompts import RitBounds
from navigator.extracts.model import ExtractiveModel
from navigator.navigator import Navigator
from navigator.retrieval.lexicon import Lexicon
from navigator.retrieval.retriever import Recipe, Retriever
from navigator.strategies.rit import Rit
from tests.bench.bench_retrieval import index, percent
from tests.bench.corpus import embedder

DATA = Path(__file__).parent / "data"
PAGES = DATA / "words"
UNANSWERABLE = DATA / "words-unanswerable.txt"


def lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


async def main(told: bool = True) -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder)
        async with (
            embedder() as model,
            SqliteTreeStore(store / "trees.sqlite") as trees,
            EdgeChunkIndex(store / "chunks", model.dimensions) as chunks,
        ):
            await index(Site("words", str(PAGES)), trees, chunks, model)
            retriever = Retriever(trees, chunks, model, Recipe())
            extractive = ExtractiveModel(model, Lexicon(chunks, trees, retriever.languages))
            navigator = Navigator({"rit": Rit(retriever, trees, RitBounds())}, extractive, lambda _: "rit")
            pages = await trees.outlines([state.key async for state in trees.scan() if state.state == "live"])
            anchors = {(key, h.anchor): h.id for key, page in pages.items() for h in page.headings}
            asked = [json.loads(line) for line in lines(DATA / "words.jsonl")]
            for kind, group in groupby(asked, key=lambda row: row["kind"]):
                rows: list[Sequence[bool]] = []
                for row in group:
                    gold = anchors[page_key((PAGES / row["page"]).as_uri()), row["anchor"]]
                    nearest = next(iter((await retriever.search(row["question"], Scope())).scores), None)
                    answer = await navigator.ask(row["question"])
                    cited = [source.first.node_id for source in answer.sources]
                    rows.append((nearest == gold, cited[:1] == [gold], cited == [gold], bool(cited)))
                    if told and cited[:1] != [gold]:
                        print(f"  not first: {row['question']}" + ("" if cited else " (not found)"))
                shares = map(percent, zip(*rows, strict=True))
                figures = (f"{n} {s:.0f}" for n, s in zip(("nearest", "first", "alone", "found"), shares, strict=True))
                print(f"{kind:<20}" + "  ".join(figures) + f"  of {len(rows)}")
            foreign = [await navigator.ask(line) for line in lines(UNANSWERABLE)]
            turned = [answer.outcome == "not_found" for answer in foreign]
            print(f"turned away: {percent(turned):.0f} of {len(turned)} that no page answers")
            for line, away in zip(lines(UNANSWERABLE), turned, strict=True):
                if told and not away:
                    print(f"  answered: {line}")


if __name__ == "__main__":
    asyncio.run(main())
