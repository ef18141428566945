"""PageIndex on a corpus (RIT-RAG section 3, "PageIndex", and App. B.2): the search picks one document; the model sees its
whole table of contents and reads sections of it, within B reads. There is no way back to another document.

A document is a page, or a sub-tree of the site: the pages that hang under the same place (StrategyBounds.document). Contents that
do not fit are cut, and say so: to the pages that the search scores best, a single page to its upper levels. What earlier
answers of a conversation cite has no part in the choice: the question stands alone.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

from ingest.ports import Outline, TreeStore
from navigator.agent.arguments import number_arguments
from navigator.agent.loop import LoopConfig, Toolbox, walk
from navigator.agent.prompts import READ_TOOL, RitBounds, evidence, legend, opening
from navigator.agent.run import AnswerRun, ReadingSession
from navigator.answer import Answer, Step
from navigator.ports import ToolCall, ToolResult, UserTurn
from navigator.retrieval.forest import Forest
from navigator.retrieval.passages import ChunkPassages
from navigator.retrieval.retriever import Chunks, Found, Retriever, best_nodes
from navigator.retrieval.toc import render_toc
from navigator.strategies.documents import DocumentId, best_document, fewer_levels, fitting, subtree_of, whole
from navigator.strategies.rit import NEAREST_SECTIONS, read_sections
from navigator.strategies.strategy import StrategyBounds

MAX_CONTENTS_CHARACTERS = 60_000
"""What a table of contents may take."""
MAX_SUBTREE_PAGES = 500
"""Of a larger sub-tree so many pages are looked at, those that the search found before others."""

READ_DOCUMENT_FIRST = (
    "You have not read anything yet, so there is nothing to answer from. Call `read`; answer after that."
)
PICK_PAGE = "pick_page"


class PageIndex:
    """The strategy `pageindex`. `contents`: how many characters the table of contents may take; `pages`: how many pages
    of a sub-tree are looked at."""

    def __init__(
        self,
        retriever: Retriever,
        trees: TreeStore,
        parts: ChunkPassages,
        rit_bounds: RitBounds,
        bounds: StrategyBounds,
        contents: int = MAX_CONTENTS_CHARACTERS,
        pages: int = MAX_SUBTREE_PAGES,
    ) -> None:
        self._retriever = retriever
        self._trees = trees
        self._parts = parts
        # The whole table of contents is shown: nothing more is to be asked for.
        self._rit_bounds = replace(rit_bounds, outline="titles") if rit_bounds.tells_more else rit_bounds
        self._bounds = bounds
        self._contents = contents
        self._most_pages = pages

    @property
    def name(self) -> str:
        return "pageindex"

    async def answer(self, run: AnswerRun) -> Answer:
        """Nothing retrieved: not found, without a call."""
        asked, session, started = run.asked, run.session, time.monotonic()
        found = await self._retriever.dense(asked.question, asked.scope, self._bounds.document_chunks)
        shown = await self._shown(run, found)
        session.nearest = await self._parts.sections(found.hits, session.numbering, NEAREST_SECTIONS)
        run.step(Step(PICK_PAGE, "", asked.question, shown=shown, seconds=time.monotonic() - started))
        if not shown:
            return run.not_found()
        toolbox = ReadToolbox(session, self._trees, self._rit_bounds, self._bounds)
        contents = f"The table of contents of the document:\n{shown}\n\n{toolbox.note(0.0)}"
        run.turns.append(UserTurn(opening(asked.question, contents, language=asked.language)))
        system = pageindex_system_prompt(self._rit_bounds, self._bounds.budget, model_cites=run.model.cites)
        return await walk(run, toolbox, LoopConfig(system, READ_DOCUMENT_FIRST, self._rit_bounds.context_share))

    async def _shown(self, run: AnswerRun, found: Chunks) -> str:
        """The contents of the best document, whose sections can now be read; empty where nothing was found."""
        document_of = await self._documents(found.pages)
        document = best_document(found.hits, document_of)
        if document is None:
            return ""
        scores = best_nodes(found.hits, len(found.hits))
        pages, count = await self._pages(document, document_of, found)
        forest, remark = await self._fitted(run, pages, count, scores)
        for _, node, path in forest.walk():
            if node.number is not None:
                run.session.offer(node.number, node.node_id, path)
        return "\n".join(part for part in (render_toc(forest, self._rit_bounds.outline), remark) if part)

    async def _documents(self, pages: Mapping[str, Outline]) -> dict[str, DocumentId]:
        """The document of each page, by page key."""
        if self._bounds.document == "page":
            return {key: (key,) for key in pages}
        places = await self._trees.place(pages)
        return {key: subtree_of(key, page.site, page.version, places.get(key, ())) for key, page in pages.items()}

    async def _pages(
        self, document: DocumentId, document_of: Mapping[str, DocumentId], found: Chunks
    ) -> tuple[list[Outline], int]:
        """Pages of the document, those that the search found before others, and how many it has. A sub-tree's other
        pages are found by a look at all pages of the site."""
        hit_keys = dict.fromkeys(hit.page_key for hit in found.hits)
        best = [found.pages[key] for key in hit_keys if document_of[key] == document]
        if self._bounds.document == "page" or document == (best[0].key,):
            return best, 1
        site, version, known = best[0].site, best[0].version, {page.key for page in best}
        keys = [
            state.key
            async for state in self._trees.scan(site)
            if state.state == "live" and state.version == version and state.key not in known
        ]
        places = await self._trees.place(keys)
        others = [key for key in keys if subtree_of(key, site, version, places.get(key, ())) == document]
        outlines = await self._trees.outlines(others[: max(0, self._most_pages - len(best))])
        return [*best, *(outlines[key] for key in others if key in outlines)], len(best) + len(others)

    async def _fitted(
        self, run: AnswerRun, pages: list[Outline], count: int, scores: Mapping[str, float]
    ) -> tuple[Forest, str]:
        """The contents, cut where they do not fit, and what is to be said of that."""
        question, numbering, form = run.asked.question, run.session.numbering, self._rit_bounds.outline
        forest = await self._retriever.induced(question, Found(whole(pages, scores), tuple(pages)), numbering)
        forest = fitting(forest, form, self._contents)
        remark = "" if len(forest.trees) == count else f"(Cut: {len(forest.trees)} of {count} pages of this document.)"
        if len(render_toc(forest, form)) <= self._contents:
            return forest, remark
        page = next(page for page in pages if page.key == forest.trees[0].page_key)
        for fewer in fewer_levels(page, scores):
            forest = await self._retriever.induced(question, Found(fewer, (page,)), numbering)
            if len(render_toc(forest, form)) <= self._contents:
                break
        return forest, f"{remark} (Cut: upper levels, and what matches the question.)".strip()


class ReadToolbox(Toolbox):
    """Read, for one question and one document."""

    tools = (READ_TOOL,)
    reads = frozenset({READ_TOOL.name})

    def __init__(
        self, session: ReadingSession, trees: TreeStore, rit_bounds: RitBounds, bounds: StrategyBounds
    ) -> None:
        picked = sum(step.tool == PICK_PAGE for step in session.steps)
        super().__init__(session, bounds.budget + picked, rit_bounds.context_share)
        self._trees = trees
        self._rit_bounds = rit_bounds

    async def _call(self, call: ToolCall, step: Step) -> tuple[Step, ToolResult]:
        asked = number_arguments(call.arguments, "sections", READ_TOOL.name)
        result = await read_sections(call.id, asked, self.session, self._trees, self._rit_bounds)
        return replace(step, numbers=tuple(asked)), result


def pageindex_system_prompt(rit_bounds: RitBounds, budget: int, *, model_cites: bool) -> str:
    """The same for every question, so that it can be cached."""
    return f"""\
You answer questions about a product from its documentation, and from nothing else. A search has picked one document for \
the question; its table of contents stands after the question. The tool `read` shows what stands in its sections. There is \
no other document.

How to work
- Before each tool call, say in one or two sentences what you know so far, what is missing, and what you are about to do.
- Go through the table of contents and `read` the most promising sections, three to five in one call. If they do not settle \
the question, read others.
- You have {budget} tool calls for a question. Before each turn you are told what is left.
- {legend(rit_bounds.outline)}

{evidence("`read` returned", model_cites=model_cites, outline=True)}"""
