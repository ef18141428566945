"""Every strategy by its name, over the same stores, retriever and bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ingest.ports import TreeStore
from navigator.agent.prompts import RitBounds
from navigator.ports import Model
from navigator.retrieval.passages import ChunkPassages
from navigator.retrieval.retriever import Retriever
from navigator.strategies.agentic import Agentic
from navigator.strategies.interact import Interact
from navigator.strategies.pageindex import PageIndex
from navigator.strategies.rdr2.rdr2 import Rdr2
from navigator.strategies.rit import Rit
from navigator.strategies.single_call import NoRetrieval, Vanilla
from navigator.strategies.strategy import Strategy, StrategyBounds


@dataclass(frozen=True, slots=True)
class StrategyDeps:
    """What strategies stand on. `router`: the model that routes for RDR2; None: the one that answers."""

    retriever: Retriever
    trees: TreeStore
    parts: ChunkPassages
    rit_bounds: RitBounds = field(default_factory=RitBounds)
    bounds: StrategyBounds = field(default_factory=StrategyBounds)
    router: Model | None = None


STRATEGIES: Mapping[str, Callable[[StrategyDeps], Strategy]] = {
    "none": lambda on: NoRetrieval(),
    "vanilla": lambda on: Vanilla(on.retriever, on.parts, on.bounds),
    "agentic": lambda on: Agentic(on.retriever, on.parts, on.rit_bounds, on.bounds),
    "interact": lambda on: Interact(on.retriever, on.parts, on.rit_bounds, on.bounds),
    "pageindex": lambda on: PageIndex(on.retriever, on.trees, on.parts, on.rit_bounds, on.bounds),
    "rit": lambda on: Rit(on.retriever, on.trees, on.rit_bounds),
    "rdr2": lambda on: Rdr2(on.retriever, on.trees, on.parts, on.rit_bounds, on.bounds, on.router),
}

FOR_PEOPLE = tuple(name for name in STRATEGIES if name != "none")
"""Those that answer from the documentation."""


def build(name: str, deps: StrategyDeps) -> Strategy:
    """Raises KeyError for a name that is not in STRATEGIES."""
    return STRATEGIES[name](deps)
