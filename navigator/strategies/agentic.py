"""Agentic search (RIT-RAG section 3, "Agentic Search", and 5.1): a tool that searches for chunks, called until the model
has what it needs, within B calls; and what Interact-RAG shares with it.

The model writes the queries; it reads every chunk that a search gives and sees nothing of the pages around them. How many
chunks that are no paper says: StrategyBounds.search_chunks. Every tool gives text. A chunk is given once a question; given
again, it is only named. Ours, unless StrategyBounds.read_on is False: a second tool reads on around a passage, which a
chunk's borders may have cut off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from ingest.model import Chunk, Scope
from ingest.ports import Hit
from navigator.agent.arguments import ToolError, number_arguments, text_argument
from navigator.agent.loop import LoopConfig, Toolbox, numbers_listed, walk
from navigator.agent.prompts import RitBounds, evidence, opening
from navigator.agent.run import AnswerRun, ReadingSession
from navigator.answer import Answer, Passage, Step
from navigator.ports import Tool, ToolCall, ToolResult, UserTurn
from navigator.retrieval.forest import Numbering
from navigator.retrieval.passages import ChunkPassages
from navigator.retrieval.retriever import Retriever
from navigator.strategies.matching import around
from navigator.strategies.rit import NEAREST_SECTIONS
from navigator.strategies.strategy import StrategyBounds

NOTHING = "Nothing matches this. Try other words."
GONE = "This is no longer there."
READ_ALL = "You have read all of this page."


class SearchToolbox(Toolbox):
    """The base of toolboxes whose tools give chunks, for one question."""

    def __init__(
        self,
        session: ReadingSession,
        scope: Scope,
        retriever: Retriever,
        parts: ChunkPassages,
        rit_bounds: RitBounds,
        bounds: StrategyBounds,
    ) -> None:
        super().__init__(session, bounds.budget, rit_bounds.context_share)
        self._scope = scope
        self._retriever = retriever
        self._parts = parts
        self._chunks = bounds.search_chunks

    async def _give(
        self, call: ToolCall, step: Step, hits: Sequence[Hit], nothing: str = NOTHING
    ) -> tuple[Step, ToolResult]:
        """Chunks as the result of a call. `nothing`: what is said where there is none."""
        fresh, again = await self._parts.passages(hits, self.session.numbering, self.session.passages)
        self.session.read(fresh)
        if not self.session.nearest:
            self.session.nearest = await self._parts.sections(
                hits, Numbering(), NEAREST_SECTIONS
            )  # no model sees these numbers
        given = [passage.number for passage in fresh]
        remarks = [
            f"Given by {call.name}, in this order: {numbers_listed(given)}." if given else "",
            f"You have read {numbers_listed(again)} already; see above." if again else "",
            "" if fresh or again else nothing,
        ]
        text = " ".join(remark for remark in remarks if remark)
        return replace(step, numbers=tuple(given)), ToolResult(call.id, text, passages=tuple(fresh))

    async def _around(self, call: ToolCall, step: Step) -> tuple[Step, ToolResult]:
        passage = self._passage(call)
        chunks = await self._parts.of_page(passage.page_key)
        ids = set(self.session.numbering.ids(passage.number))
        centre = ids if ids.intersection(chunk.id for chunk in chunks) else {passage.node_id}
        near = around(chunks, centre, {chunk.id for chunk in self._unread(chunks)}, self._chunks)
        nothing = READ_ALL if passage.node_id in {chunk.node_id for chunk in chunks} else GONE
        return await self._give(call, replace(step, query=" › ".join(passage.path)), unscored(near), nothing)

    def _passage(self, call: ToolCall) -> Passage:
        """The passage that a call names. Raises ToolError."""
        asked = number_arguments(call.arguments, "passage", call.name)
        read = {passage.number: passage for passage in self.session.passages}
        if len(asked) > 1 or asked[0] not in read:
            raise ToolError(f"{call.name} takes the number of one passage that you have read.")
        return read[asked[0]]

    def _unread(self, chunks: Sequence[Chunk]) -> list[Chunk]:
        """Those that were read neither by themselves nor with their whole node."""
        read = {shown for passage in self.session.passages for shown in self.session.numbering.ids(passage.number)}
        return [chunk for chunk in chunks if not read.intersection((chunk.id, chunk.node_id))]


class SearchStrategy:
    """A strategy that searches with the tools of its `toolbox`. What earlier answers of the conversation cite is not at
    hand: the question stands alone, and only what a search gives is read. `how`: what the tools do and how to go about
    with them, as lines of a list."""

    name: ClassVar[str]
    how: str
    toolbox: type[SearchToolbox]

    def __init__(
        self, retriever: Retriever, parts: ChunkPassages, rit_bounds: RitBounds, bounds: StrategyBounds
    ) -> None:
        self._retriever = retriever
        self._parts = parts
        self._rit_bounds = rit_bounds
        self._bounds = bounds

    async def answer(self, run: AnswerRun) -> Answer:
        asked, rit_bounds, bounds = run.asked, self._rit_bounds, self._bounds
        toolbox = self.toolbox(run.session, asked.scope, self._retriever, self._parts, rit_bounds, bounds)
        run.turns.append(UserTurn(opening(asked.question, toolbox.note(0.0), language=asked.language)))
        names = " or ".join(f"`{tool.name}`" for tool in toolbox.tools)
        search_first = (
            f"You have not read anything yet, so there is nothing to answer from. Call {names}; answer after that."
        )
        system = search_system_prompt(self.how, bounds.budget, model_cites=run.model.cites)
        return await walk(run, toolbox, LoopConfig(system, search_first, rit_bounds.context_share))


def search_system_prompt(tools: str, budget: int, *, model_cites: bool) -> str:
    """The same for every question, so that it can be cached. `tools`: SearchStrategy.how."""
    return f"""\
You answer questions about a product from its documentation, and from nothing else. Your tools search the documentation \
and give passages. A passage is a part of a section, under the path of that section: it may begin or end in the middle, \
and it may be about something else than you looked for.

How to work
- Before each tool call, say in one or two sentences what you know so far, what is missing, and what you are about to do.
{tools}
- You have {budget} tool calls for a question. Before each turn you are told what is left.

{evidence("the tools returned", model_cites=model_cites)}"""


def passage_tool(name: str, description: str, /, **arguments: tuple[str, str]) -> Tool:
    """`arguments`: for each its JSON type and what it is."""
    properties = {argument: {"type": kind, "description": what} for argument, (kind, what) in arguments.items()}
    schema = {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}
    return Tool(name, description, schema)


PASSAGE_NUMBER = ("integer", "The number of a passage that you have read.")

SEARCH_TOOL = passage_tool(
    "search",
    "Search the documentation by meaning and words together. Gives the passages that match best, with text.",
    query=("string", "What to look for, in the words the documentation would use."),
)
AROUND_TOOL = passage_tool(
    "around",
    "What stands before and after a passage on its page, as far as you have not read it yet.",
    passage=PASSAGE_NUMBER,
)

HOW_TO_SEARCH = """\
- Call `search` with what to look for. If what comes back does not settle the question, search again in other words, or \
for the part that is missing. A question of several parts takes a search each; you may call several at once."""
HOW_TO_READ_ON = """
- Where a passage breaks off, or what is missing must stand near it, call `around` with its number: it is told with each \
result."""


class SearchOnlyToolbox(SearchToolbox):
    """Search, for one question."""

    tools: tuple[Tool, ...] = (SEARCH_TOOL,)
    reads = frozenset({SEARCH_TOOL.name})

    async def _call(self, call: ToolCall, step: Step) -> tuple[Step, ToolResult]:
        query = text_argument(call.arguments, "query", call.name)
        found = await self._retriever.hybrid(query, self._scope, self._chunks)
        return await self._give(call, replace(step, query=query), found.hits)


class AgenticToolbox(SearchOnlyToolbox):
    """Search, and around a passage."""

    tools = (SEARCH_TOOL, AROUND_TOOL)
    reads = frozenset({SEARCH_TOOL.name, AROUND_TOOL.name})

    async def _call(self, call: ToolCall, step: Step) -> tuple[Step, ToolResult]:
        return await (self._around(call, step) if call.name == AROUND_TOOL.name else super()._call(call, step))


class Agentic(SearchStrategy):
    """The strategy `agentic`."""

    name = "agentic"

    def __init__(
        self, retriever: Retriever, parts: ChunkPassages, rit_bounds: RitBounds, bounds: StrategyBounds
    ) -> None:
        super().__init__(retriever, parts, rit_bounds, bounds)
        self.how = HOW_TO_SEARCH + (HOW_TO_READ_ON if bounds.read_on else "")
        self.toolbox = AgenticToolbox if bounds.read_on else SearchOnlyToolbox


def unscored(chunks: Sequence[Chunk]) -> list[Hit]:
    """In this order; the score says nothing."""
    return [Hit(chunk.id, chunk.node_id, chunk.page_key, 0.0) for chunk in chunks]
