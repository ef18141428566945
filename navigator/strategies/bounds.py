"""The bounds of the strategies that are not RIT; the defaults are their papers'. RIT's own are navigator.agent.prompts.Rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Document = Literal["page", "subtree"]


@dataclass(frozen=True, slots=True)
class StrategyBounds:
    """`chunks`: how many a single-call strategy reads (RIT-RAG 5.1: 5) and RDR2 starts from (RDR2 4.3: 5). `budget`: tool
    calls of agentic search, Interact-RAG and PageIndex (RIT-RAG 5.1: B = 10). `search_chunks`: chunks that one search
    gives (no paper names a number). `document_chunks`: chunks by which PageIndex picks its document; `document`: what a
    document is to it. `expansions`: RDR2's E (0 to 5 tried in the paper); `structure`: whether RDR2's router sees
    headings (its ablation: RDR2 5.2)."""

    chunks: int = 5
    budget: int = 10
    search_chunks: int = 5
    document_chunks: int = 50
    document: Document = "page"
    expansions: int = 3
    structure: bool = True
