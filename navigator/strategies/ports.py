"""What a strategy is: one way from a question to an answer. All of them stand on the same stores, retriever and model."""

from __future__ import annotations

from typing import Protocol

from navigator.agent.run import AnswerRun
from navigator.answer import Answer


class Strategy(Protocol):
    """Holds no state of a question; any number of them side by side."""

    @property
    def name(self) -> str: ...

    async def answer(self, way: AnswerRun) -> Answer:
        """Take `way.asked` to an answer, which `way` makes. Raises ModelError, IngestError."""
        ...
