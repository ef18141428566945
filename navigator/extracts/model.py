"""The Model that needs no model: it navigates by the retriever's scores and answers with extracts.

The same loop, tools, budget and trace as any model. It searches with the question as it stands, reads
the best sections, and quotes of those the units that come nearest to the question, each section under its path. When
nothing it read comes near, it says that it found nothing.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import chain, zip_longest
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingest.model import EVERYWHERE, Scope
from ingest.ports import Embedder
from ingest.text.languages import spoken
from navigator.agent.prompts import GET_TOC_TOOL, NEAREST_ONLY, NOT_FOUND, READ_TOOL, question_of
from navigator.answer import Passage
from navigator.extracts.choice import Bounds, Extract, chosen, found
from navigator.extracts.question_form import Wanted, language_of, sides_of, wanted
from navigator.extracts.quotation import cited_words, escape, quoted, runs
from navigator.extracts.scoring import Weights, exactness, signals_of, title_of, titles_of
from navigator.extracts.units import Unit, units_of
from navigator.ports import (
    CitationDelta,
    ModelEvent,
    ModelTurn,
    TextDelta,
    Tool,
    ToolCall,
    ToolCallEvent,
    ToolTurn,
    Turn,
    TurnEnd,
    UserTurn,
)
from navigator.question.word_counts import words_of
from navigator.retrieval.forest import Forest
from navigator.retrieval.lexicon import Lexicon

READ_ALONE = 4
"""So many of the best sections are read alone where they are too long for one Read with the others."""
SEARCHED = 2
"""Sections of each search that are read for their place in it, whatever their titles."""
MAX_EMBEDDED_CHARACTERS = 300
"""Of a longer unit (a code block) its beginning stands for it."""
MAX_EMBEDDED_UNITS = 16
"""Of a question, so many units are embedded at most: 0.1 to 0.2 s of one core."""
MAX_KEPT_VECTORS = 20_000
"""Vectors of units that were embedded once: 30 MB with 384 numbers each."""
OTHER_LANGUAGE = (
    "Your question is in another language than the documentation, and no language model is set that could translate it. "
    "These sections come nearest."
)

_Vector = NDArray[np.float32]


class _Counted(NamedTuple):
    """In how many of the `chunks` each word of a question stands; `native`: its small words are those of a language of the
    pages."""

    words: Mapping[str, int]
    chunks: int
    native: bool


MAX_COUNTED_QUESTIONS = 64
"""Of those that are answered side by side, the counts are kept from one turn to the next."""
NOTHING_COUNTED = _Counted({}, 0, False)


class ExtractiveModel:
    """Quotes instead of writing. `reads`: how many sections it reads. `lexicon`: the index's words; without it nothing is
    known of how rare a word is, or that no page holds it."""

    def __init__(
        self,
        embedder: Embedder,
        lexicon: Lexicon | None = None,
        bounds: Bounds | None = None,
        weights: Weights | None = None,
        reads: int = 10,
    ) -> None:
        self._embedder = embedder
        self._lexicon = lexicon
        self._weights = weights or Weights()
        self._bounds = bounds or Bounds()
        self._reads = reads
        self._vectors: OrderedDict[str, _Vector] = OrderedDict()
        self._counts: OrderedDict[tuple[str, Scope], _Counted] = OrderedDict()

    @property
    def name(self) -> str:
        return "extractive"

    @property
    def cites(self) -> bool:
        return True

    @property
    def context_window(self) -> int:
        return 1_000_000

    async def turn(
        self, system: str, turns: Sequence[Turn], tools: Sequence[Tool], *, must_answer: bool = False
    ) -> AsyncIterator[ModelEvent]:
        question = question_of(next(turn.text for turn in turns if isinstance(turn, UserTurn)))
        results = [result for turn in turns if isinstance(turn, ToolTurn) for result in turn.results]
        told = [turn for turn in turns if isinstance(turn, UserTurn)]
        forests = [forest for forest in (*(t.forest for t in told), *(r.forest for r in results)) if forest is not None]
        given = (*(turn.passages for turn in told), *(result.passages for result in results))
        passages = [passage for some in given for passage in some]
        calls = [{call.name for call in turn.calls} for turn in turns if isinstance(turn, ModelTurn)]
        read_once = sum(READ_TOOL.name in names for names in calls) == 1
        queries = (*(() if forests else (question,)), *sides_of(question))
        left_out: list[int] = []
        counted = await self._counted(question, forests) if forests or passages or must_answer else NOTHING_COUNTED
        if forests and read_once and not must_answer:
            best = _best(forests, self._wanted(question, counted), READ_ALONE)
            left_out = [number for number in best if number not in {passage.number for passage in passages}]
        if left_out:
            yield TextDelta("Reading alone what was too long to be read with the others.")
            for number in left_out:
                yield ToolCallEvent(ToolCall(f"read-{number}", READ_TOOL.name, {"sections": [number]}))
            yield TurnEnd("calls")
        elif passages or must_answer:
            async for event in self._answer(question, counted, forests, passages):
                yield event
            yield TurnEnd("end")
        elif not results and queries and GET_TOC_TOOL.name in {tool.name for tool in tools}:
            yield TextDelta("Searching with the question as it stands." if not forests else "Searching for each side.")
            for number, query in enumerate(queries):
                yield ToolCallEvent(ToolCall(f"toc-{number}", GET_TOC_TOOL.name, {"query": query}))
            yield TurnEnd("calls")
        elif forests and (best := _best(forests, self._wanted(question, counted), self._reads)):
            yield TextDelta("Reading the sections that the search scored best.")
            yield ToolCallEvent(ToolCall("read", READ_TOOL.name, {"sections": best}))
            yield TurnEnd("calls")
        else:
            yield TextDelta(NOT_FOUND)
            yield TurnEnd("end")

    async def _counted(self, question: str, forests: Sequence[Forest]) -> _Counted:
        """What the index says of the question's words; who reads with it answers with it."""
        if self._lexicon is None:
            return NOTHING_COUNTED
        scope = forests[-1].scope if forests else EVERYWHERE
        if counted := self._counts.pop((question, scope), None):
            return counted
        counts = await self._lexicon.counts(words_of(question), scope)
        native = spoken(question) in await self._lexicon.languages()
        counted = self._counts[question, scope] = _Counted(counts, await self._lexicon.total(scope), native)
        if len(self._counts) > MAX_COUNTED_QUESTIONS:
            self._counts.popitem(last=False)
        return counted

    def _wanted(self, question: str, counted: _Counted, passages: Sequence[Passage] = ()) -> Wanted:
        language = language_of(question, passages)
        return wanted(question, counted.words, counted.chunks, self._known, language, native=counted.native)

    def _known(self, word: str) -> bool:
        """Whether the embedding model has a token of its own for the word: it is a word of the language, no name."""
        return self._embedder.count(word.lower()) <= 1

    async def _answer(
        self, question: str, counted: _Counted, forests: Sequence[Forest], passages: Sequence[Passage]
    ) -> AsyncIterator[ModelEvent]:
        asked = self._wanted(question, counted, passages)
        if asked.foreign:
            yield TextDelta(f"{NEAREST_ONLY} {OTHER_LANGUAGE}")
            return
        extracts = await self.extracts(question, asked, forests, passages)
        if not extracts:
            yield TextDelta(NOT_FOUND)
            return
        yield TextDelta("Extracts from the documentation, word for word:")
        for extract in extracts:
            passage = passages[extract.passage]
            yield TextDelta(f"\n\n**{escape(' › '.join(passage.path))}**")
            for block, run in runs(extract.pieces):
                yield CitationDelta(
                    extract.passage, block, block, cited_words(run, extract.cores, passage.blocks[block])
                )
            yield TextDelta("\n\n" + quoted(extract.pieces, passage))

    async def extracts(
        self, question: str, asked: Wanted, forests: Sequence[Forest], passages: Sequence[Passage]
    ) -> list[Extract]:
        """What the passages say to the question, best section first; empty where nothing comes near."""
        units = units_of(passages, asked.held_in)
        signals = signals_of(question, asked, units, passages, _shares(forests, passages))
        near = sorted(range(len(units)), key=lambda i: (-signals[i].promise(self._weights), i))[:MAX_EMBEDDED_UNITS]
        for i, cosine in zip(near, await self._cosines(question, [units[i] for i in near], passages), strict=True):
            signals[i].means = float(cosine)
        if not found(asked, signals, self._bounds):
            return []
        return chosen(asked, units, signals, self._weights, self._bounds)

    async def _cosines(self, question: str, units: Sequence[Unit], passages: Sequence[Passage]) -> _Vector:
        """Of each unit, under its section's title, and the question. What was embedded before is remembered."""
        if not units:
            return np.zeros(0, dtype=np.float32)
        texts = [f"{title_of(passages[u.passage].path)}\n{u.core[:MAX_EMBEDDED_CHARACTERS]}" for u in units]
        missing = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        for text, vector in zip(missing, await self._embedder.embed(missing), strict=True):
            self._vectors[text] = np.asarray(vector, dtype=np.float32)
        matrix = np.stack([self._vectors[text] for text in texts])
        for text in texts:
            self._vectors.move_to_end(text)
        while len(self._vectors) > MAX_KEPT_VECTORS:
            self._vectors.popitem(last=False)
        query = np.asarray(await self._embedder.embed_query(question), dtype=np.float32)
        return np.asarray(np.clip(matrix @ query, 0.0, 1.0), dtype=np.float32)


def _best(forests: Sequence[Forest], asked: Wanted, count: int) -> list[int]:
    """The numbers of the readable nodes to read, best first: by the search, and by how exactly a title is what is asked
    for. Of several searches each has its turn."""
    found = [
        [(n.number, n.score, path) for _, n, path in f.walk() if n.score and n.number is not None] for f in forests
    ]
    titles = iter(titles_of(asked, [path for rows in found for *_, path in rows]))
    ranked = [
        _ranked([(number, score, next(titles)) for number, score, _ in rows], asked.within(forest.query))
        for forest, rows in zip(forests, found, strict=True)
    ]
    turns = (number for turn in zip_longest(*ranked) for number in turn if number is not None)
    return list(dict.fromkeys(turns))[:count]


def _ranked(found: Sequence[tuple[int, float, frozenset[str]]], asked: Wanted) -> list[int]:
    """`found`: numbers, scores and titles. Best first by score and title together; SEARCHED of those that the search alone
    likes best are among the first, since a name (`-m`) says nothing in a title."""
    top = max((score for _, score, _ in found), default=1.0)
    searched = sorted(found, key=lambda row: (-row[1], row[0]))
    titled = sorted(found, key=lambda row: (-row[1] / top - exactness(asked, row[2]), row[0]))
    turns = chain.from_iterable(zip(titled, searched[:SEARCHED], strict=False))
    return [number for number, _, _ in (*turns, *titled)]


def _shares(forests: Sequence[Forest], passages: Sequence[Passage]) -> list[float]:
    """Each passage's retrieval score as a share of the best one's, in the search that likes it most."""
    shares: dict[str, float] = {}
    for forest in forests:
        scores = {node.node_id: node.score for _, node, _ in forest.walk() if node.score}
        top = max(scores.values(), default=1.0)
        for node_id, score in scores.items():
            shares[node_id] = max(score / top, shares.get(node_id, 0.0))
    return [shares.get(passage.node_id, 0.0) for passage in passages]
