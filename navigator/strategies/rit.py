"""RIT (RIT-RAG section 4): search for where to look, choose what to read, read it, answer with citations.

Bounds: B tool calls, at most B_s of them GetToC; never both tools in one turn; no answer before a Read. Only nodes that
this question's forests showed can be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ingest.model import Scope
from ingest.ports import Located, TreeStore
from navigator.agent.arguments import ToolError, number_arguments, text_argument
from navigator.agent.loop import LoopConfig, Toolbox, numbers_listed, walk
from navigator.agent.prompts import (
    GET_TOC_TOOL,
    READ_FIRST,
    READ_TOOL,
    RitBounds,
    budget_note,
    opening,
    rit_system_prompt,
)
from navigator.agent.run import AnswerRun, ReadingSession
from navigator.answer import Answer, Passage, Step
from navigator.ports import ToolCall, ToolResult, UserTurn
from navigator.retrieval.forest import Forest
from navigator.retrieval.passages import distinct, path_of, section_passages
from navigator.retrieval.retriever import Retriever
from navigator.retrieval.toc import render_toc

NEAREST_SECTIONS = 3
"""How many sections are offered where nothing was found."""
MAX_LISTED_BELOW = 8
"""Sections that a Read lists under one that it gave."""


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
        found, contents = await toolbox.search_first(run) if rit_bounds.tells_more else (None, "")
        text = opening(asked.question, toolbox.note(0.0), at_hand, asked.language, contents)
        run.turns.append(UserTurn(text, forest=found))
        system = rit_system_prompt(rit_bounds, model_cites=run.model.cites)
        return await walk(run, toolbox, LoopConfig(system, READ_FIRST, rit_bounds.context_share))


class RitToolbox(Toolbox):
    """GetToC and Read for one question."""

    reads = frozenset({READ_TOOL.name})
    one_kind = True

    def __init__(
        self, session: ReadingSession, retriever: Retriever, trees: TreeStore, scope: Scope, rit_bounds: RitBounds
    ) -> None:
        super().__init__(session, rit_bounds.budget, rit_bounds.context_share)
        self.tools = rit_bounds.tools
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

    async def search_first(self, run: AnswerRun) -> tuple[Forest | None, str]:
        """What a search with the question's own words finds, and its outline: a model that is given it with the question
        needs a turn less. Counts as a get_toc. Raises IngestError."""
        call = ToolCall("first", GET_TOC_TOOL.name, {"query": run.asked.question})
        result = await self._run(call, "", mixed=False, run=run)
        return result.forest, result.text

    async def _call(self, call: ToolCall, step: Step) -> tuple[Step, ToolResult]:
        return await (self._get_toc(call, step) if call.name == GET_TOC_TOOL.name else self._read(call, step))

    async def _get_toc(self, call: ToolCall, step: Step) -> tuple[Step, ToolResult]:
        query, forest = await self._searched(call)
        for _, node, path in forest.walk():
            if node.number is not None:
                self.session.offer(node.number, node.node_id, path)
        await self._remember_nearest(forest)
        text = render_toc(forest, self._rit_bounds.outline) or "Nothing matches this query. Try other words."
        return replace(step, query=query, shown=text), ToolResult(call.id, text, forest=forest)

    async def _searched(self, call: ToolCall) -> tuple[str, Forest]:
        """What a call of get_toc looks for, in words, and the forest that it induces. Raises ToolError."""
        if sum(done.tool == GET_TOC_TOOL.name for done in self.session.steps) >= self._rit_bounds.toc_budget:
            raise ToolError(f"get_toc may be called {self._rit_bounds.toc_budget} times; read from what it gave.")
        numbering, under = self.session.numbering, self._under(call)
        if under is None:
            query = text_argument(call.arguments, "query", call.name)
            return query, await self._retriever.forest(query, self._scope, numbering)
        node_id, path = under
        found = (await self._trees.nodes([node_id])).get(node_id)
        if found is None:
            raise ToolError("That section is no longer there.")
        return " › ".join(path), await self._retriever.below(found.page, node_id, numbering)

    def _under(self, call: ToolCall) -> tuple[str, tuple[str, ...]] | None:
        """The section under which more is asked for; None for a search. Models fill in all that a schema has. Raises
        ToolError."""
        if not self._rit_bounds.tells_more or call.arguments.get("under") is None:
            return None
        searches = bool(call.arguments.get("query"))
        try:
            number = number_arguments(call.arguments, "under", call.name)[0]
        except ToolError:
            if searches:
                return None
            raise
        known = self.session.offered(number)
        if known is None and not searches:
            raise ToolError(f"No section {number} was shown to you.")
        return known

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
    ToolError where none was, IngestError. Equal text is given once. With `rit_bounds.tells_more`, what stands under each is
    listed, and can be read next."""
    unknown = [number for number in asked if session.offered(number) is None]
    not_shown = f"No section {numbers_listed(unknown)} was shown to you. Read numbers from a table of contents."
    if len(unknown) == len(asked):
        raise ToolError(not_shown)
    asked = [number for number in asked if number not in unknown]
    again = [number for number in asked if session.has(number)]
    wanted = _wanted([number for number in asked if not session.has(number)], session)
    located = await trees.nodes(wanted)
    found = section_passages(located, wanted)
    groups = [passage.number for passage in found if not passage.blocks]
    fresh, twins = distinct([passage for passage in found if passage.blocks], session.passages)
    passages, left_out = _fitting(fresh, rit_bounds.read_limit, session.affordable(rit_bounds.read_characters))
    session.read(passages)
    gone = sorted(number for node_id, (number, _) in wanted.items() if node_id not in located)
    remarks = [
        not_shown if unknown else "",
        f"You have read {numbers_listed(again)} already; see above." if again else "",
        " ".join(f"{number} says word for word what {first} says." for number, first in twins.items()),
        f"Section {numbers_listed(gone)} is no longer there." if gone else "",
        f"No text of its own: {numbers_listed(groups)}." if groups else "",
        f"Left out for length, read alone if needed: {numbers_listed(left_out)}." if left_out else "",
    ]
    if rit_bounds.tells_more:
        opened = {*groups, *(passage.number for passage in passages)}
        remarks += [_below(located[i], n, path, session) for i, (n, path) in wanted.items() if n in opened]
    return ToolResult(call_id, " ".join(remark for remark in remarks if remark), passages=tuple(passages))


def _below(found: Located, number: int, path: tuple[str, ...], session: ReadingSession) -> str:
    """What stands right under a section and was not read, now to be read by number; "" where nothing does."""
    rows = []
    for heading in found.page.headings:
        child = session.numbering.of(heading.id) if heading.parent == found.node.id else None
        if child is not None and not session.has(child):
            session.offer(child, heading.id, (*path, heading.title))
            rows.append(f"{'' if heading.readable else '- '}{child}: {heading.title}")
    left = len(rows) - MAX_LISTED_BELOW
    listed = [*rows[:MAX_LISTED_BELOW], *([f"+{left} more"] if left > 0 else [])]
    return f"Under {number} stand {'; '.join(listed)}." if listed else ""


async def load_passages(wanted: Sequence[int], session: ReadingSession, trees: TreeStore) -> list[Passage]:
    """Nodes that were offered, as passages: pages in the order in which they were asked for, sections of a page in
    document order."""
    nodes = _wanted(wanted, session)
    return section_passages(await trees.nodes(nodes), nodes)


def _wanted(numbers: Sequence[int], session: ReadingSession) -> dict[str, tuple[int, tuple[str, ...]]]:
    """Number and path of those that were offered, by node id."""
    behind = {number: session.offered(number) for number in numbers}
    return {found[0]: (number, found[1]) for number, found in behind.items() if found}


def _fitting(passages: list[Passage], most: int, characters: int) -> tuple[list[Passage], list[int]]:
    """As many as one Read may give; the first always."""
    kept: list[Passage] = []
    left_out: list[int] = []
    size = 0
    for passage in passages:
        size += sum(len(block.text) for block in passage.blocks)
        if kept and (size > characters or len(kept) >= most):
            left_out.append(passage.number)
        else:
            kept.append(passage)
    return kept, left_out
