"""Interact-RAG (Hui et al. 2026, arXiv 2510.27566) as RIT-RAG 5.1 compares it: agentic search whose model handles the
retrieval itself, within the same B calls.

As there: search by meaning alone, search by exact words, matching an entity, keeping to one document. Ours: to expand
around a passage, which that paper does not have; a document is named by a passage of it. Left out: weights for fusing the
two searches (the model calls the one that it wants), leaving documents out, and choosing how many chunks a search
gives (Bounds.search_chunks, so that strategies compare). There the model is trained for these tools; here it is not.
"""

from __future__ import annotations

from dataclasses import replace

from navigator.agent.arguments import text_argument
from navigator.answer import Step
from navigator.ports import ToolCall, ToolResult
from navigator.retrieval.retriever import fuse
from navigator.strategies.agentic import (
    AROUND_TOOL,
    GONE,
    PASSAGE_NUMBER,
    READ_ALL,
    SearchStrategy,
    SearchToolbox,
    passage_tool,
    unscored,
)
from navigator.strategies.matching import by_words, naming

CANDIDATE_CHUNKS = 100
"""Among so many chunks a name, or the best of a page, is looked for."""

KAPPA = 60
"""Of the fusion of meaning and words on one page (RIT-RAG App. B.1)."""

MEANING_TOOL = passage_tool(
    "search",
    "Search by meaning. Gives the passages that come nearest, in whatever words they say it.",
    query=("string", "What to look for, as a sentence or a question."),
)
KEYWORD_TOOL = passage_tool(
    "keyword",
    "Search by exact words: options, error codes, commands, identifiers. Rare words count most.",
    query=("string", "The words, separated by spaces."),
)
ENTITY_TOOL = passage_tool(
    "entity",
    "Passages that hold a name exactly as given, in their text or their title. One name at a time.",
    name=("string", "The name: of a product, a feature, a parameter, a message."),
)
PAGE_TOOL = passage_tool(
    "page",
    "Search one page: the page of a passage. Gives passages of it that you have not read yet.",
    passage=PASSAGE_NUMBER,
    query=("string", "What to look for on that page."),
)
HOW_TO_INTERACT = """\
- Choose the tool for what is missing: `search` where you know what it means, `keyword` where you know the words, `entity` \
where it must be about one name, `page` where the right page is found and the right place is not, `around` where a passage \
breaks off or refers to what stands near it.
- The numbers of passages are told with each result.
- If what comes back does not settle the question, change the tool or the words. You may make several calls at once."""


class InteractToolbox(SearchToolbox):
    """The five tools, for one question."""

    tools = (MEANING_TOOL, KEYWORD_TOOL, ENTITY_TOOL, PAGE_TOOL, AROUND_TOOL)
    reads = frozenset(tool.name for tool in tools)

    async def _call(self, call: ToolCall, step: Step) -> tuple[Step, ToolResult]:
        match call.name:
            case MEANING_TOOL.name:
                query = text_argument(call.arguments, "query", call.name)
                found = await self._retriever.dense(query, self._scope, self._chunks)
                return await self._give(call, replace(step, query=query), found.hits)
            case KEYWORD_TOOL.name:
                query = text_argument(call.arguments, "query", call.name)
                found = await self._retriever.words(query, self._scope, self._chunks)
                return await self._give(call, replace(step, query=query), found.hits)
            case ENTITY_TOOL.name:
                return await self._entity(call, step)
            case PAGE_TOOL.name:
                return await self._page(call, step)
            case _:
                return await self._around(call, step)

    async def _entity(self, call: ToolCall, step: Step) -> tuple[Step, ToolResult]:
        name = text_argument(call.arguments, "name", call.name)
        found = await self._retriever.words(name, self._scope, CANDIDATE_CHUNKS)
        read = await self._parts.read(found.hits)
        texts = [(hit, "\n".join([part.path[-1], *(block.text for block in part.blocks)])) for hit, part, _ in read]
        best = naming(name, texts)
        return await self._give(call, replace(step, query=name), best[: self._chunks])

    async def _page(self, call: ToolCall, step: Step) -> tuple[Step, ToolResult]:
        passage = self._passage(call)
        query = text_argument(call.arguments, "query", call.name)
        chunks = await self._parts.of_page(passage.page_key)
        near = await self._retriever.dense(query, self._scope, CANDIDATE_CHUNKS)
        by_meaning = [hit for hit in near.hits if hit.page_key == passage.page_key]
        ranked = fuse([by_meaning, unscored(by_words(chunks, await self._retriever.analysed(query)))], KAPPA)
        ranks = {hit.chunk_id: rank for rank, hit in enumerate(ranked)}
        best = sorted(self._unread(chunks), key=lambda chunk: ranks.get(chunk.id, len(ranks)))
        nothing = READ_ALL if chunks else GONE
        return await self._give(call, replace(step, query=query), unscored(best[: self._chunks]), nothing)


class Interact(SearchStrategy):
    """The strategy `interact`."""

    name = "interact"
    how = HOW_TO_INTERACT
    toolbox = InteractToolbox
