"""Agentic search (RIT-RAG section 3, "Agentic Search", and 5.1): one tool that searches for chunks, called until the model
has what it needs, within B calls.

The model writes the queries; it reads every chunk that a search gives and sees nothing of the pages around them. How
many chunks that are no paper says: Bounds.search_chunks.
"""

from __future__ import annotations

from dataclasses import replace

from navigator.agent.tools import words
from navigator.answer import Step
from navigator.ports import Tool, ToolCall, ToolResult
from navigator.strategies.searching import SearchStrategy, SearchToolbox

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


class AgenticToolbox(SearchToolbox):
    """Search, for one question."""

    tools = (SEARCH,)
    reads = frozenset({SEARCH.name})

    async def _call(self, call: ToolCall, step: Step) -> tuple[Step, ToolResult]:
        query = words(call.arguments, "query", call.name)
        found = await self._retriever.hybrid(query, self._scope, self._chunks)
        return await self._give(call, replace(step, query=query), found.hits)


class Agentic(SearchStrategy):
    """The strategy `agentic`."""

    name = "agentic"
    how = HOW
    toolbox = AgenticToolbox
