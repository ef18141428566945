"""Agentic search (RIT-RAG section 3, "Agentic Search", and 5.1): one tool that searches for chunks, called until the model
has what it needs, within B calls.

The model writes the queries; it reads every chunk that a search gives and sees nothing of the pages around them. How
many chunks that are no paper says: Bounds.search_chunks.
"""

from __future__ import annotations

from dataclasses import replace

from navigator.answer import Answer, Step
from navigator.parts import Parts
from navigator.ports import Tool, ToolCall, ToolResult
from navigator.retrieve import Retriever
from navigator.rules import Rules
from navigator.strategies.bounds import Bounds
from navigator.strategies.searching import SearchToolbox, search_and_answer, system_prompt
from navigator.tools import words
from navigator.way import Way

SEARCH = Tool(
    name="search",
    description="Search the documentation by meaning and words together. Gives the passages that match best, with text.",
    schema={
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to look for, in the words the documentation would use."}
        },
        "required": ["query"],
        "additionalProperties": False,
    },
)

HOW = """\
- Call `search` with what to look for. If what comes back does not settle the question, search again in other words, or \
for the part that is missing. A question of several parts takes a search each; you may call several at once."""


class Agentic:
    """The strategy `agentic`."""

    def __init__(self, retriever: Retriever, parts: Parts, rules: Rules, bounds: Bounds) -> None:
        self._retriever = retriever
        self._parts = parts
        self._rules = rules
        self._bounds = bounds

    @property
    def name(self) -> str:
        return "agentic"

    async def answer(self, way: Way) -> Answer:
        toolbox = AgenticToolbox(way.reading, way.asked.scope, self._retriever, self._parts, self._rules, self._bounds)
        system = system_prompt(HOW, self._bounds.budget, model_cites=way.model.cites)
        return await search_and_answer(way, toolbox, system, self._rules)


class AgenticToolbox(SearchToolbox):
    """Search, for one question."""

    tools = (SEARCH,)
    reads = frozenset({SEARCH.name})

    async def _call(self, call: ToolCall, step: Step) -> tuple[Step, ToolResult]:
        query = words(call.arguments, "query", call.name)
        found = await self._retriever.hybrid(query, self._scope, self._chunks)
        return await self._give(call, replace(step, query=query), found.hits)
