"""RDR2 (section 3.1): retrieve chunks, let a router look through the pages they come from, read what it selected.

Each page is routed by itself, side by side with the others: at first it shows the retrieved blocks and their siblings
under all headings, then, at most E times, what is folded under the heading that the router chose. The blocks selected in
all rounds go to the reader: pages in the order in which they were retrieved, blocks in document order.

Where the paper says nothing:

- Nothing selected on any page: there is nothing to answer from, and the answer says so; what was retrieved is offered.
- The router fails on a page (not: writes what cannot be used): what it had selected there counts; had it selected nothing,
  the blocks that were retrieved do, as they would without a router. Where this is so on every page, the question fails.
- The ceiling of the answer is reached: as where the router fails, and it is answered from that.
- More is selected than one Read may give (RitBounds.read_characters): the last passages are left out, and the trace says so.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

import structlog

from ingest.ports import TreeStore
from navigator.agent.loop import numbers_listed
from navigator.agent.prompts import RitBounds, opening
from navigator.agent.run import AnswerRun
from navigator.answer import Answer, Passage, Step
from navigator.batch.ledger import AnswerCeilingReached
from navigator.errors import ModelError
from navigator.ports import Model, UserTurn
from navigator.retrieval.passages import ChunkPassages, distinct
from navigator.retrieval.retriever import Retriever
from navigator.strategies.rdr2.actions import Routed
from navigator.strategies.rdr2.pages import Anchored, anchored
from navigator.strategies.rdr2.router import Look, Router
from navigator.strategies.rit import NEAREST_SECTIONS
from navigator.strategies.single_call import passages_system_prompt
from navigator.strategies.strategy import StrategyBounds

log = structlog.get_logger()

SIDE_BY_SIDE = 8
"""Pages of one question that are routed at once."""
TRACE_REPLY_CHARACTERS = 2_000
"""Characters of a router's words, and of its invalid lines, that the trace keeps."""
TRACE_TREE_CHARACTERS = 8_000
"""Characters of a subtree that the trace keeps."""


@dataclass(slots=True)
class Routing:
    """One page and its rounds. `fault`: why nothing could be selected on it."""

    page: Anchored
    selected: set[int] = field(default_factory=set)
    fault: ModelError | AnswerCeilingReached | None = None


class Rdr2:
    """The strategy `rdr2`."""

    def __init__(
        self,
        retriever: Retriever,
        trees: TreeStore,
        parts: ChunkPassages,
        rit_bounds: RitBounds,
        bounds: StrategyBounds,
        router: Model | None,
    ) -> None:
        """`router` None: the model that answers."""
        self._retriever = retriever
        self._trees = trees
        self._parts = parts
        self._rit_bounds = rit_bounds
        self._bounds = bounds
        self._router = router

    @property
    def name(self) -> str:
        return "rdr2"

    async def answer(self, run: AnswerRun) -> Answer:
        asked, session = run.asked, run.session
        found = await anchored(
            self._retriever, self._trees, self._parts, asked.question, asked.scope, self._bounds.chunks
        )
        session.nearest = await self._parts.sections(found.hits, session.numbering, NEAREST_SECTIONS)
        routed = await self._route(run, found.pages)
        chosen = [p for each in routed for p in each.page.passages(each.selected, session.numbering)]
        passages, left_out = self._fitting(distinct(chosen)[0], session.affordable(self._rit_bounds.read_characters))
        if not passages:
            return run.not_found()
        session.read(passages)
        remark = f"Left out for length: {numbers_listed([p.number for p in left_out])}." if left_out else None
        run.step(Step("read", "", numbers=tuple(p.number for p in passages), error=remark))
        run.turns.append(UserTurn(opening(asked.question, language=asked.language), tuple(passages)))
        return run.answer(await run.ask_model(passages_system_prompt(model_cites=run.model.cites), must_answer=True))

    async def _route(self, run: AnswerRun, pages: Sequence[Anchored]) -> list[Routing]:
        """Every page, in the order given. Raises ModelError where the router failed on all."""
        router = Router(
            run.metered(self._router) if self._router else run.model, self._bounds.expansions, self._bounds.structure
        )
        turn = asyncio.Semaphore(SIDE_BY_SIDE)
        routings = [Routing(page) for page in pages]

        async def one(routing: Routing) -> None:
            async with turn:
                await _rounds(run, router, routing)

        async with asyncio.TaskGroup() as group:
            for routing in routings:
                group.create_task(one(routing))
        faults = [routing.fault for routing in routings if routing.fault]
        if faults and len(faults) == len(routings) and isinstance(faults[0], ModelError):
            raise faults[0]
        return routings

    @staticmethod
    def _fitting(passages: Sequence[Passage], characters: int) -> tuple[list[Passage], list[Passage]]:
        """What fits, and what does not; the first always."""
        size, kept = 0, len(passages)
        for position, passage in enumerate(passages):
            size += sum(len(block.text) for block in passage.blocks)
            if position and size > characters:
                kept = position
                break
        return list(passages[:kept]), list(passages[kept:])


async def _rounds(run: AnswerRun, router: Router, routing: Routing) -> None:
    """Route one page; each round is a step."""
    page, started = routing.page, time.monotonic()
    try:
        begin = page.begin(structure=router.structure)
        async with aclosing(router.rounds(run.asked.question, begin)) as looks:
            async for look in looks:
                run.spend(look.usage)
                routing.selected.update(look.routed.selected)
                run.step(_step(run, page, look))
                started = time.monotonic()
    except (ModelError, AnswerCeilingReached) as error:
        log.warning("router_failed", page=page.key, kind=type(error).__name__, selected=len(routing.selected))
        if not routing.selected:
            routing.fault = error
            routing.selected.update(page.retrieved)
        step = Step("route", "", run.asked.question, f"# {page.title}", error=str(error))
        run.step(replace(step, seconds=time.monotonic() - started))


def _step(run: AnswerRun, page: Anchored, look: Look) -> Step:
    """`numbers` are those of the sections from which something was selected; what was visible was offered."""
    nodes, numbering = page.tree.nodes, run.session.numbering
    for node_id in dict.fromkeys(nodes[block].node_id for block in look.subtree.visible):
        run.session.offer(numbering.of(node_id), node_id, page.path(node_id))
    return Step(
        "route",
        look.said.strip()[:TRACE_REPLY_CHARACTERS],
        run.asked.question,
        f"# {page.title}\n{look.shown}"[:TRACE_TREE_CHARACTERS],
        tuple(dict.fromkeys(numbering.of(nodes[block].node_id) for block in look.routed.selected)),
        _remark(look.routed),
        look.seconds,
    )


def _remark(routed: Routed) -> str | None:
    """What of the router's words did not count, and why."""
    if routed.invalid_lines:
        return f"{len(routed.invalid_lines)} of {routed.lines} lines are invalid. {'; '.join(routed.invalid_lines)}"[
            :TRACE_REPLY_CHARACTERS
        ]
    return "The router wrote nothing." if routed.collapsed else None
