"""RIT (RIT-RAG section 4): search for where to look, choose what to read, read it, answer with citations.

Bounds: B tool calls, at most B_s of them GetToC; never both tools in one turn; no answer before a Read. Only nodes that
this question's forests showed can be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ingest.model import Scope
from ingest.ports import TreeStore
from navigator.agent.arguments import ToolError, number_arguments, text_argument
from navigator.agent.loop import LoopConfig, Toolbox, numbers_listed, walk
from navigator.agent.prompts import (
    GET_TOC_TOOL,
    READ_FIRST,
    READ_TOOL,
    RIT_TOOLS,
    RitBounds,
    budget_note,
    opening,
    rit_system_prompt,
)
from navigator.agent.run import AnswerRun, ReadingSession
from navigator.answer import Answer, Passage, Step
from navigator.ports import ToolCall, ToolResult, UserTurn
from navigator.retrieval.forest import Forest
from navigator.retrieval.passages import path_of, section_passages
from navigator.retrieval.retriever import Retriever
from navigator.retrieval.toc import render_toc

NEAREST_SECTIONS = 3
"""How many sections are offered where nothing was found."""


class Rit:
    """The strategy `rit`."""

    def __init__(self, retriever: Retriever, trees: TreeStore, rit_bounds: RitBounds) -> None:
        self._retriever = retriever
        self._trees = trees
        self._rit_bounds = rit_bounds

    @property
    def name(self) -> str:
        return "rit"

    async def answer(self, run: AnswerRun) -> Answer:
        asked, rit_bounds = run.asked, self._rit_bounds
        toolbox = RitToolbox(run.session, self._retriever, self._trees, asked.scope, rit_bounds)
        at_hand = await toolbox.offer(asked.at_hand)
        run.turns.append(UserTurn(opening(asked.question, toolbox.note(0.0), at_hand, asked.language)))
        system = rit_system_prompt(rit_bounds, model_cites=run.model.cites)
        return await walk(run, toolbox, LoopConfig(system, READ_FIRST, rit_bounds.context_share))


class RitToolbox(Toolbox):
    """GetToC and Read for one question."""

    tools = RIT_TOOLS
    reads = frozenset({READ_TOOL.name})
    one_kind = True

    def __init__(
        self, session: ReadingSession, retriever: Retriever, trees: TreeStore, scope: Scope, rit_bounds: RitBounds
    ) -> None:
        super().__init__(session, rit_bounds.budget, rit_bounds.context_share)
        self._retriever = retriever
        self._trees = trees
        self._scope = scope
        self._rit_bounds = rit_bounds

    def note(self, context: float) -> str:
        steps = self.session.steps
        tocs = sum(step.tool == GET_TOC_TOOL.name for step in steps)
        rit_bounds = self._rit_bounds
        return budget_note(
            rit_bounds.budget - len(steps), context, rit_bounds.context_share, rit_bounds.toc_budget - tocs
        )

    async def offer(self, node_ids: Iterable[str]) -> list[tuple[int, tuple[str, ...]]]:
        """Put nodes at hand before any search: they can be read by their numbers. Those that are still there and in
        scope, at most so many as one Read takes, with number and path."""
        wanted = list(dict.fromkeys(node_ids))[: self._rit_bounds.read_limit]
        located = await self._trees.nodes(wanted) if wanted else {}
        places = await self._trees.place({found.page.key for found in located.values()})
        offered: list[tuple[int, tuple[str, ...]]] = []
        for node_id in wanted:
            found = located.get(node_id)
            if found is None or not self._scope.holds(found.page.site, found.page.version):
                continue
            above = tuple(place.title for place in places.get(found.page.key, ()))
            number, path = self.session.numbering.of(node_id), (*above, *path_of(found.page, node_id))
            self.session.offer(number, node_id, path)
            offered.append((number, path))
        return offered

    async def _call(self, call: ToolCall, step: Step) -> tuple[Step, ToolResult]:
        return await (self._get_toc(call, step) if call.name == GET_TOC_TOOL.name else self._read(call, step))

    async def _get_toc(self, call: ToolCall, step: Step) -> tuple[Step, ToolResult]:
        query = text_argument(call.arguments, "query", GET_TOC_TOOL.name)
        if sum(done.tool == GET_TOC_TOOL.name for done in self.session.steps) >= self._rit_bounds.toc_budget:
            raise ToolError(f"get_toc may be called {self._rit_bounds.toc_budget} times; read from what it gave.")
        forest = await self._retriever.forest(query, self._scope, self.session.numbering)
        for _, node, path in forest.walk():
            if node.number is not None:
                self.session.offer(node.number, node.node_id, path)
        await self._remember_nearest(forest)
        text = render_toc(forest, self._rit_bounds.outline) or "Nothing matches this query. Try other words."
        return replace(step, query=query, shown=text), ToolResult(call.id, text, forest=forest)

    async def _read(self, call: ToolCall, step: Step) -> tuple[Step, ToolResult]:
        asked = number_arguments(call.arguments, "sections", READ_TOOL.name)
        step = replace(step, numbers=tuple(asked))
        return step, await read_sections(call.id, asked, self.session, self._trees, self._rit_bounds)

    async def _remember_nearest(self, forest: Forest) -> None:
        """The best sections of the first forest, to be offered where nothing is found."""
        if self.session.nearest:
            return
        scored = [(n.score, n.number) for _, n, _ in forest.walk() if n.score is not None and n.number is not None]
        best = [number for _, number in sorted(scored, key=lambda pair: (-pair[0], pair[1]))[:NEAREST_SECTIONS]]
        loaded = {passage.number: passage for passage in await load_passages(best, self.session, self._trees)}
        self.session.nearest = tuple(loaded[number] for number in best if number in loaded)


async def read_sections(
    call_id: str, asked: Sequence[int], session: ReadingSession, trees: TreeStore, rit_bounds: RitBounds
) -> ToolResult:
    """Read whole sections by the numbers that were shown. Those that were not are named; raises
    ToolError where none was, IngestError."""
    unknown = [number for number in asked if session.offered(number) is None]
    not_shown = f"No section {numbers_listed(unknown)} was shown to you. Read numbers from a table of contents."
    if len(unknown) == len(asked):
        raise ToolError(not_shown)
    asked = [number for number in asked if number not in unknown]
    again = [number for number in asked if session.has(number)]
    fresh = [number for number in asked if not session.has(number)]
    passages, left_out = _fitting(await load_passages(fresh, session, trees), rit_bounds)
    session.read(passages)
    gone = sorted(set(fresh) - {passage.number for passage in passages} - set(left_out))
    remarks = [
        not_shown if unknown else "",
        f"You have read {numbers_listed(again)} already; see above." if again else "",
        f"Section {numbers_listed(gone)} is no longer there." if gone else "",
        f"Left out for length, read alone if needed: {numbers_listed(left_out)}." if left_out else "",
    ]
    return ToolResult(call_id, " ".join(remark for remark in remarks if remark), passages=tuple(passages))


async def load_passages(wanted: Sequence[int], session: ReadingSession, trees: TreeStore) -> list[Passage]:
    """Nodes that were offered, as passages: pages in the order in which they were asked for, sections of a page in
    document order."""
    behind = {number: session.offered(number) for number in wanted}
    nodes = {found[0]: (number, found[1]) for number, found in behind.items() if found}
    return section_passages(await trees.nodes(nodes), nodes)


def _fitting(passages: list[Passage], rit_bounds: RitBounds) -> tuple[list[Passage], list[int]]:
    """As many as one Read may give; the first always."""
    kept: list[Passage] = []
    left_out: list[int] = []
    size = 0
    for passage in passages:
        size += sum(len(block.text) for block in passage.blocks)
        if kept and (size > rit_bounds.read_characters or len(kept) >= rit_bounds.read_limit):
            left_out.append(passage.number)
        else:
            kept.append(passage)
    return kept, left_out
