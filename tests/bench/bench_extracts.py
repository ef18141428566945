"""Extracts on real questions, without a model: what is answered, from which section, and does the answer stand in it?

    make bench-extracts [SITES=folder] [ONLY=git,sqlite] [SHOW=1]

SITES is the folder in which Debian's documentation packages are unpacked (data/extracts/sites.toml names them, and what is
missing is said with the commands that fetch it). Questions are JSON lines a site:

    question   in a user's words; `after`: questions asked before it in the conversation
    section    a pattern for the path or link of a section that answers
    must       patterns that an answer holds, all of them; `must_not`: none of them
    kind       unanswerable: nothing may be shown; foreign: another language than the pages, the nearest sections are offered

A question is really answered if its right section is cited, its answer holds all that it must and nothing that it must not.
Half of the sites are held back: nobody looks at them while extracts are worked on.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import structlog
from pydantic import TypeAdapter

from ingest.embedding.minilm import MiniLMEmbedder
from ingest.model import Site
from ingest.stores.embedded.chunks import EdgeChunkIndex
from ingest.stores.embedded.trees import SqliteTreeStore
from navigator.agent.prompts import RitBounds
from navigator.answer import Answer
from navigator.extracts.model import ExtractiveModel
from navigator.navigator import Navigator
from navigator.question.rewrite import Earlier, by_rule
from navigator.question.spelling import with_spelling
from navigator.retrieval.lexicon import Lexicon
from navigator.retrieval.retriever import Recipe, Retriever
from navigator.strategies.rit import Rit
from tests.bench.bench_retrieval import index
from tests.bench.corpus import CACHE, CachedEmbedder

DATA = Path(__file__).parent / "data" / "extracts"


@dataclass(frozen=True, slots=True)
class Asked:
    """One question with what is expected of its answer."""

    question: str
    section: str = ""
    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    kind: str = "answerable"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`right`: the right section is cited, `first`: and is the first; `real`: really answered. For what cannot be
    answered, `real` says that nothing was shown as an answer. `seconds` of processor time, of all threads."""

    asked: Asked
    answer: Answer
    right: bool
    first: bool
    real: bool
    seconds: float


def asked_of(name: str) -> list[Asked]:
    lines = (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [TypeAdapter(Asked).validate_json(line) for line in lines]


def judged(asked: Asked, answer: Answer, seconds: float) -> Verdict:
    offered = answer.nearest if asked.kind == "foreign" else [source.first for source in answer.sources]
    places = [f"{' › '.join(found.path)} {getattr(found, 'node_link', '') or found.link}" for found in offered]
    right = [bool(re.search(asked.section, place)) for place in places]
    plain = re.sub(r"\\([\W_])", r"\1", answer.text)
    holds = all(re.search(p, plain, re.I | re.S) for p in asked.must)
    clean = not any(re.search(p, plain, re.I | re.S) for p in asked.must_not)
    match asked.kind:
        case "unanswerable":
            real = answer.outcome == "not_found"
        case "foreign":
            real = answer.outcome == "not_found" and any(right) and holds and clean
        case _:
            real = answer.outcome == "answered" and any(right) and holds and clean
    return Verdict(asked, answer, any(right), bool(right) and right[0], real, seconds)


async def ask(navigator: Navigator, asked: Asked) -> Verdict:
    earlier: list[Earlier] = []
    for question in asked.after:
        answer = await navigator.ask(question, earlier=earlier)
        nodes = tuple(dict.fromkeys(source.first.node_id for source in answer.sources))
        earlier.append(Earlier(answer.understood or question, answer.text, nodes))
    began = time.process_time()
    answer = await navigator.ask(asked.question, earlier=earlier)
    return judged(asked, answer, time.process_time() - began)


def percent(hits: Sequence[bool]) -> str:
    return f"{100 * sum(hits) / len(hits):5.1f}%" if hits else "    –"


def report(name: str, verdicts: Sequence[Verdict]) -> None:
    askable = [v for v in verdicts if v.asked.kind == "answerable"]
    foreign = [v for v in verdicts if v.asked.kind == "foreign"]
    away = [v for v in verdicts if v.asked.kind == "unanswerable"]
    seconds = sorted(v.seconds for v in verdicts)
    print(
        f"{name:<12} {len(askable):3} answerable: answered {percent([v.answer.outcome == 'answered' for v in askable])}, "
        f"right section {percent([v.right for v in askable])} (first {percent([v.first for v in askable])}), "
        f"really answered {percent([v.real for v in askable])} | {len(away):2} unanswerable turned away "
        f"{percent([v.real for v in away])} | {len(foreign)} foreign {percent([v.real for v in foreign])} | "
        f"CPU s {median(seconds):.2f}, at most {seconds[-1]:.2f} | "
        f"{sum(len(v.answer.sources) for v in askable) / max(1, len(askable)):.1f} sections, "
        f"{median(len(v.answer.text) for v in askable):.0f} characters"
    )


def shown(verdict: Verdict) -> str:
    asked, answer = verdict.asked, verdict.answer
    marks = f"{'right' if verdict.right else 'WRONG'} {'real' if verdict.real else 'NOT REAL'}"
    lines = [
        f"\n##### {marks} [{asked.kind}] {asked.question}",
        f"wanted {asked.section!r} {asked.must} not {asked.must_not}",
    ]
    if answer.understood:
        lines.append(f"understood: {answer.understood}")
    lines += [f"-> {answer.outcome} {answer.note}", answer.text]
    lines += [f"  nearest: {' › '.join(p.path)} {p.link}" for p in answer.nearest]
    lines += [f"  cited: {' › '.join(s.first.path)} {s.first.node_link}" for s in answer.sources]
    return "\n".join(lines)


async def of_site(name: str, table: dict[str, Any], folder: Path, model: MiniLMEmbedder) -> list[Verdict]:
    store = CACHE / "extracts" / name
    store.mkdir(parents=True, exist_ok=True)
    include, exclude = ((table[kind],) if kind in table else () for kind in ("include", "exclude"))
    async with (
        SqliteTreeStore(store / "trees.sqlite") as trees,
        EdgeChunkIndex(store / "chunks", model.dimensions) as chunks,
    ):
        if os.environ.get("INDEX", "1") == "1":
            cached = CachedEmbedder(model, CACHE / "vectors.sqlite")
            await index(Site(name, str(folder), include=include, exclude=exclude), trees, chunks, cached)
        retriever = Retriever(trees, chunks, model, Recipe())
        lexicon = Lexicon(chunks, trees)
        understand = with_spelling(by_rule, lexicon, model.count)
        strategies = {"rit": Rit(retriever, trees, RitBounds())}
        navigator = Navigator(strategies, ExtractiveModel(model, lexicon), lambda _: "rit", understand)
        verdicts = [] if os.environ.get("NOASK") else [await ask(navigator, asked) for asked in asked_of(name)]
    if verdicts:
        report(name, verdicts)
    if os.environ.get("SHOW"):
        for verdict in verdicts:
            print(shown(verdict))
    return verdicts


async def main() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    sites = tomllib.loads((DATA / "sites.toml").read_text(encoding="utf-8"))
    root = Path(os.environ.get("SITES", CACHE / "sites"))
    only = os.environ.get("ONLY", "").split(",") if os.environ.get("ONLY") else list(sites)
    missing = [sites[name]["package"] for name in only if not (root / sites[name]["folder"]).is_dir()]
    if missing:
        print(f"Not in {root}, and left out: {', '.join(missing)}. On Debian 12 or in its container:")
        print(f"    apt-get download {' '.join(missing)} && for p in *.deb; do dpkg -x $p {root}; done")
    found: dict[bool, list[Verdict]] = {True: [], False: []}
    async with MiniLMEmbedder() as model:
        for name in only:
            folder = root / sites[name]["folder"]
            if folder.is_dir():
                found[sites[name]["held_back"]] += await of_site(name, sites[name], folder, model)
    for held_back, verdicts in found.items():
        if verdicts:
            report("held back" if held_back else "worked on", verdicts)


if __name__ == "__main__":
    asyncio.run(main())
