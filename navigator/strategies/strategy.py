"""What a strategy is, and the bounds of those that are not RIT; RIT's own are navigator.agent.prompts.RitBounds.

A strategy takes one question from its beginning to an answer. All of them stand on the same stores, retriever and model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from navigator.agent.run import AnswerRun
from navigator.answer import Answer

Document = Literal["page", "subtree"]


@dataclass(frozen=True, slots=True)
class StrategyBounds:
    """The defaults are those of the strategies' papers. `chunks`: how many a single-call strategy reads (RIT-RAG 5.1: 5) and RDR2 starts from (RDR2 4.3: 5). `budget`: tool
    calls of agentic search, Interact-RAG and PageIndex (RIT-RAG 5.1: B = 10). `search_chunks`: chunks that one search
    gives (no paper names a number). `document_chunks`: chunks by which PageIndex picks its document; `document`: what a
    document is to it. `expansions`: RDR2's E (0 to 5 tried in the paper); `structure`: whether RDR2's router sees
    headings (its ablation: RDR2 5.2). `read_on`: whether agentic search may also read around a passage, which its paper does
    not let it."""

    chunks: int = 5
    budget: int = 10
    search_chunks: int = 5
    document_chunks: int = 50
    document: Document = "page"
    expansions: int = 3
    structure: bool = True
    read_on: bool = True


class Strategy(Protocol):
    """Holds no state of a question; any number of them side by side."""

    @property
    def name(self) -> str: ...

    async def answer(self, run: AnswerRun) -> Answer:
        """Take `run.asked` to an answer, which `run` makes. Raises ModelError, IngestError."""
        ...
