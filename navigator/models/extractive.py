"""The Model that needs no model: it navigates by the retriever's scores and answers with extracts.

The same loop, tools, budget and trace as any model. It searches with the question as it stands, reads
the best sections, and quotes of those the sentences, steps and code that come nearest to the
question, in document order, each node under its path. When nothing it read comes near, it says that
it found nothing.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from itertools import groupby, zip_longest

from ingest.ports import Embedder
from ingest.text.chunks import PATH_TITLES
from navigator.agent.prompts import GET_TOC_TOOL, NOT_FOUND, READ_TOOL, question_of
from navigator.answer import Passage
from navigator.models.extracts import Extract, Standing, Unit, Weights, choose_units, cosine, nearness, units_of
from navigator.ports import (
    CitationDelta,
    ModelEvent,
    TextDelta,
    Tool,
    ToolCall,
    ToolCallEvent,
    ToolTurn,
    Turn,
    TurnEnd,
    UserTurn,
)
from navigator.retrieval.forest import Forest

MAX_EMBEDDED_CHARACTERS = 600
"""Of a longer unit (a code block) its beginning stands for it."""


class ExtractiveModel:
    """Quotes instead of writing. `reads`: how many sections it reads."""

    def __init__(self, embedder: Embedder, weights: Weights | None = None, reads: int = 8) -> None:
        self._embedder = embedder
        self._weights = weights or Weights()
        self._reads = reads

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
        forests = [result.forest for result in results if result.forest is not None]
        given = [passage for turn in turns if isinstance(turn, UserTurn) for passage in turn.passages]
        passages = [*given, *(passage for result in results for passage in result.passages)]
        if passages or must_answer:
            async for event in self._answer(question, forests, passages):
                yield event
            yield TurnEnd("end")
        elif not results and GET_TOC_TOOL in tools:
            yield TextDelta("Nothing is known yet: searching with the question as it stands.")
            yield ToolCallEvent(ToolCall("toc", GET_TOC_TOOL.name, {"query": question}))
            yield TurnEnd("calls")
        elif forests and (best := _best(forests[-1], self._reads)):
            yield TextDelta("Reading the sections that the search scored best.")
            yield ToolCallEvent(ToolCall("read", READ_TOOL.name, {"sections": best}))
            yield TurnEnd("calls")
        else:
            yield TextDelta(NOT_FOUND)
            yield TurnEnd("end")

    async def _answer(
        self, question: str, forests: Sequence[Forest], passages: Sequence[Passage]
    ) -> AsyncIterator[ModelEvent]:
        extracts = await self.extracts(question, forests, passages)
        if not extracts:
            yield TextDelta(NOT_FOUND)
            return
        yield TextDelta("Extracts from the documentation, word for word:")
        for extract in extracts:
            passage = passages[extract.passage]
            yield TextDelta(f"\n\n**{_escape(' › '.join(passage.path))}**")
            for block, group in groupby(extract.units, key=lambda unit: unit.block):
                units = list(group)
                quote = units[0].text.strip() if units[0].kind in ("text", "quote") else ""
                yield CitationDelta(extract.passage, block, block, quote)
            yield TextDelta("\n\n" + quoted(extract.units, passage))

    async def extracts(self, question: str, forests: Sequence[Forest], passages: Sequence[Passage]) -> list[Extract]:
        """What the passages say to the question, best node first; empty where nothing comes near."""
        units = units_of(passages)
        if not units:
            return []
        query = await self._embedder.embed_query(question)
        titles = [" › ".join(passage.path[-PATH_TITLES:]) for passage in passages]
        vectors = await self._embedder.embed([*titles, *(unit.text[:MAX_EMBEDDED_CHARACTERS] for unit in units)])
        shares = _shares(forests, passages)
        standing = [Standing(share, cosine(v, query)) for share, v in zip(shares, vectors, strict=False)]
        own = [passage.path[-1] for passage in passages]
        near = nearness(question, units, own, vectors[len(titles) :], query, self._weights)
        return choose_units(units, near, standing, self._weights)


def _best(forest: Forest, count: int) -> list[int]:
    """The numbers of the best readable nodes, best first."""
    scored = [(node.score, node.number) for _, node, _ in forest.walk() if node.number is not None and node.score]
    return [number for _, number in sorted(scored, key=lambda pair: (-(pair[0] or 0), pair[1]))[:count]]


def _shares(forests: Sequence[Forest], passages: Sequence[Passage]) -> list[float]:
    """Each passage's retrieval score as a share of the best one's."""
    scores = {node.node_id: node.score for forest in forests for _, node, _ in forest.walk() if node.score}
    top = max(scores.values(), default=1.0)
    return [scores.get(passage.node_id, 0.0) / top for passage in passages]


def quoted(units: Sequence[Unit], passage: Passage) -> str:
    """Units as Markdown, an ellipsis where something between two was left out."""
    parts: list[str] = []
    last: Unit | None = None
    for block, group in groupby(units, key=lambda unit: unit.block):
        run = list(group)
        if last is not None and run[0].position > last.position + 1:
            parts.append("…")
        parts.append(_quoted_block(run, passage.blocks[block].language or ""))
        last = run[-1]
    return "\n\n".join(parts)


def _quoted_block(run: Sequence[Unit], language: str) -> str:
    """Sentences of a paragraph in one line, list items and rows on their own, code in a fence longer than
    any run of backticks inside."""
    kind = run[0].kind
    if kind == "code":
        fence = "`" * max(3, 1 + max((len(m) for m in re.findall(r"`+", run[0].text)), default=0))
        return f"{fence}{language}\n{run[0].text.rstrip()}\n{fence}"
    if kind in ("text", "quote", "math"):
        return "".join(
            _escape(unit.text.rstrip("\n")) + _joint(unit, after) for unit, after in zip_longest(run, run[1:])
        )
    return "\n".join(_escape_line(line) for unit in run for line in unit.text.split("\n"))


def _joint(unit: Unit, after: Unit | None) -> str:
    """What stands between two sentences of a paragraph."""
    if after is None:
        return ""
    if after.position > unit.position + 1:
        return " … "
    return "  \n" if unit.text.endswith("\n") else " "


def _escape(text: str) -> str:
    """Markdown's own signs in a quotation are not markup."""
    return re.sub(r"([\\*_\[\]<>`])", r"\\\1", text)


def _escape_line(line: str) -> str:
    """A list item or table row: its indentation and bullet stay markup, the words do not."""
    match = re.match(r"\s*(?:[-*] |\d+[.)] )?", line)
    head = match.group() if match else ""
    return head + _escape(line[len(head) :]) + ("" if head.strip() else "  ")
