"""The two tools of one question: GetToC and Read, with the budget and the memory of what was shown.

Only nodes that this question's forests showed can be read. Unknown, unreadable and unshown numbers,
wrong arguments, both tools in one turn and calls beyond the budget come back as tool errors; each
call counts, so that every question ends.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from ingest.model import Scope
from ingest.ports import TreeStore
from navigator.answer import Passage, Step
from navigator.forest import Forest, Numbering
from navigator.outline import render
from navigator.passages import passages_of, path_of
from navigator.ports import ModelTurn, ToolCall, ToolResult, ToolTurn
from navigator.retrieve import Retriever
from navigator.rules import GET_TOC, READ, Rules, budget_note

NEAREST = 3
"""How many sections are offered where nothing was found."""


class ToolError(Exception):
    """What the model is told instead of a result."""


class Toolbox:
    """Runs the calls of one question. `steps` is the way so far."""

    def __init__(self, retriever: Retriever, trees: TreeStore, scope: Scope, rules: Rules) -> None:
        self._retriever = retriever
        self._trees = trees
        self._scope = scope
        self._rules = rules
        self._numbering = Numbering()
        self._paths: dict[int, tuple[str, tuple[str, ...]]] = {}
        self._read: dict[int, Passage] = {}
        self._forests: list[Forest] = []
        self.steps: list[Step] = []
        self.nearest: tuple[Passage, ...] = ()

    @property
    def passages(self) -> tuple[Passage, ...]:
        """Everything read, each node once, in the order of reading."""
        return tuple(self._read.values())

    @property
    def shown(self) -> tuple[tuple[int, str, tuple[str, ...]], ...]:
        """Every node that was offered for reading: number, node id, path."""
        return tuple((number, node_id, path) for number, (node_id, path) in self._paths.items())

    def version_of(self, node_ids: Set[str]) -> str:
        """The version that the passages of these nodes are of; "" where they are of none, or of several."""
        versions = {passage.version for passage in self._read.values() if passage.node_id in node_ids}
        return versions.pop() if len(versions) == 1 else ""

    @property
    def tocs(self) -> int:
        return sum(step.tool == "get_toc" for step in self.steps)

    @property
    def has_read(self) -> bool:
        """Whether a Read went through, even if what it asked for was there no longer."""
        return any(step.tool == "read" and step.error is None for step in self.steps)

    @property
    def exhausted(self) -> bool:
        return len(self.steps) >= self._rules.budget

    async def offer(self, node_ids: Iterable[str]) -> list[tuple[int, tuple[str, ...]]]:
        """Put nodes at hand before any search: they can be read by their numbers. Those that are still there and in
        scope, at most so many as one Read takes, with number and path."""
        wanted = list(dict.fromkeys(node_ids))[: self._rules.read_limit]
        located = await self._trees.nodes(wanted) if wanted else {}
        places = await self._trees.place({found.page.key for found in located.values()})
        offered: list[tuple[int, tuple[str, ...]]] = []
        for node_id in wanted:
            found = located.get(node_id)
            if found is None or not self._scope.holds(found.page.site, found.page.version):
                continue
            above = tuple(place.title for place in places.get(found.page.key, ()))
            number, path = self._numbering.of(node_id), (*above, *path_of(found.page, node_id))
            self._paths[number] = (node_id, path)
            offered.append((number, path))
        return offered

    async def run(self, turn: ModelTurn, context: float) -> ToolTurn:
        """Answer all calls of one turn. `context` is the share of the model's context in use."""
        both = {call.name for call in turn.calls} >= {GET_TOC.name, READ.name}
        results = [await self._run(call, turn.text, both) for call in turn.calls]
        return ToolTurn(tuple(results), budget_note(self._rules, len(self.steps), self.tocs, context))

    async def _run(self, call: ToolCall, reasoning: str, both: bool) -> ToolResult:
        started = time.monotonic()
        step = Step("read" if call.name == READ.name else "get_toc", reasoning.strip())
        try:
            if self.exhausted:
                raise ToolError("No tool calls are left. Answer from what you have read.")
            if both:
                raise ToolError("One kind of tool a turn: call get_toc or read, then look at what it gives.")
            if call.name == GET_TOC.name:
                step, result = await self._get_toc(call, step)
            elif call.name == READ.name:
                step, result = await self._read_sections(call, step)
            else:
                raise ToolError(f"There is no tool {call.name!r}; there are get_toc and read.")
        except ToolError as error:
            step = replace(step, error=str(error))
            result = ToolResult(call.id, str(error), error=True)
        self.steps.append(replace(step, seconds=time.monotonic() - started))
        return result

    async def _get_toc(self, call: ToolCall, step: Step) -> tuple[Step, ToolResult]:
        query = call.arguments.get("query")
        if not isinstance(query, str) or not query.strip():
            raise ToolError('get_toc takes {"query": "what to look for"}.')
        step = replace(step, query=query)
        if self.tocs >= self._rules.toc_budget:
            raise ToolError(f"get_toc may be called {self._rules.toc_budget} times; read from what it gave.")
        forest = await self._retriever.forest(query, self._scope, self._numbering)
        for _, node, path in forest.walk():
            if node.number is not None:
                self._paths.setdefault(node.number, (node.node_id, path))
        self._forests.append(forest)
        await self._remember_nearest(forest)
        text = render(forest, self._rules.outline) or "Nothing matches this query. Try other words."
        return replace(step, shown=text), ToolResult(call.id, text, forest=forest)

    async def _read_sections(self, call: ToolCall, step: Step) -> tuple[Step, ToolResult]:
        numbers = _numbers(call.arguments)
        step = replace(step, numbers=tuple(numbers))
        unknown = [n for n in numbers if n not in self._paths]
        if unknown:
            raise ToolError(f"No section {_listed(unknown)} was shown to you. Read numbers from a table of contents.")
        again = [n for n in numbers if n in self._read]
        fresh = [n for n in numbers if n not in self._read]
        passages, left_out = self._fitting(await self._load(fresh))
        self._read.update({passage.number: passage for passage in passages})
        gone = sorted(set(fresh) - {p.number for p in passages} - set(left_out))
        remarks = [
            f"You have read {_listed(again)} already; see above." if again else "",
            f"Section {_listed(gone)} is no longer there." if gone else "",
            f"Left out for length, read alone if needed: {_listed(left_out)}." if left_out else "",
        ]
        return step, ToolResult(call.id, " ".join(r for r in remarks if r), passages=tuple(passages))

    async def _load(self, numbers: Sequence[int]) -> list[Passage]:
        """The nodes as passages: pages in the order in which they were asked for, sections of a page in
        document order."""
        wanted = {self._paths[n][0]: (n, self._paths[n][1]) for n in numbers}
        return passages_of(await self._trees.nodes(wanted), wanted)

    def _fitting(self, passages: list[Passage]) -> tuple[list[Passage], list[int]]:
        """As many as one Read may give; the first always."""
        kept: list[Passage] = []
        left_out: list[int] = []
        size = 0
        for passage in passages:
            size += sum(len(block.text) for block in passage.blocks)
            if kept and (size > self._rules.read_characters or len(kept) >= self._rules.read_limit):
                left_out.append(passage.number)
            else:
                kept.append(passage)
        return kept, left_out

    async def _remember_nearest(self, forest: Forest) -> None:
        """The best sections of the first forest, to be offered where nothing is found."""
        if self.nearest:
            return
        scored = [(n.score, n.number) for _, n, _ in forest.walk() if n.score is not None and n.number is not None]
        best = [number for _, number in sorted(scored, key=lambda pair: (-pair[0], pair[1]))[:NEAREST]]
        loaded = {passage.number: passage for passage in await self._load(best)}
        self.nearest = tuple(loaded[number] for number in best if number in loaded)


def _numbers(arguments: Mapping[str, Any]) -> list[int]:
    """Section numbers, each once. Models also write one number, or numbers as strings."""
    given = arguments.get("sections")
    values = given if isinstance(given, list) else [given]
    try:
        numbers = [int(str(value).strip()) for value in values]
    except ValueError:
        numbers = []
    if not numbers:
        raise ToolError('read takes {"sections": [numbers from a table of contents]}.')
    return list(dict.fromkeys(numbers))


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
