"""The opinions of judges: asked for once, kept, never asked for again.

A reply of no use is asked for again, once; after that there is no opinion.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import structlog

from ingest.model import sha256
from navigator.answer import Usage
from navigator.evaluation.judging.inquiry import Inquiry
from navigator.models.complete import complete
from navigator.ports import Model

log = structlog.get_logger()

T = TypeVar("T")
TRIES = 2
_AGAIN = "Your last reply was not of that form. Reply with that one JSON object, no word before or after it, no fence."


@dataclass(frozen=True, slots=True)
class Opinion(Generic[T]):
    """`usage` is what it took to get it, whenever that was."""

    found: T
    usage: Usage


class OpinionStore(Protocol):
    """Where opinions are kept: by a key, the JSON object and what it took."""

    def opinion(self, key: str) -> tuple[Mapping[str, Any], Usage] | None: ...

    def keep_opinion(self, key: str, said: Mapping[str, Any], usage: Usage) -> None: ...


class Judges:
    """One model as judge, and its opinions."""

    def __init__(self, model: Model, kept: OpinionStore) -> None:
        self._model = model
        self._kept = kept
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @property
    def name(self) -> str:
        return self._model.name

    def known(self, inquiry: Inquiry[T]) -> Opinion[T] | None:
        """What was said before."""
        found = self._kept.opinion(self._key(inquiry))
        if found is None:
            return None
        said, usage = found
        try:
            return Opinion(inquiry.read(said), usage)
        except ValueError:
            return None

    async def ask(self, inquiry: Inquiry[T], spend: Callable[[Usage], None]) -> Opinion[T] | None:
        """None where no reply was of use. What is being asked already is waited for. Raises ModelError."""
        async with self._turns[self._key(inquiry)]:
            return self.known(inquiry) or await self._ask(inquiry, spend)

    async def _ask(self, inquiry: Inquiry[T], spend: Callable[[Usage], None]) -> Opinion[T] | None:
        prompt, taken = inquiry.prompt, Usage()
        for _ in range(TRIES):
            written = await complete(self._model, inquiry.system, prompt)
            spend(written.usage)
            taken += written.usage
            try:
                found, said = inquiry.opinion(written.text)
            except ValueError as error:
                log.info("opinion_of_no_use", judge=self.name, reason=str(error)[:100], ended=written.ended)
                prompt = f"{inquiry.prompt}\n\n{_AGAIN}"
                continue
            self._kept.keep_opinion(self._key(inquiry), said, taken)
            return Opinion(found, taken)
        return None

    def _key(self, inquiry: Inquiry[T]) -> str:
        return sha256(f"{self.name}\n{inquiry.digest}")
