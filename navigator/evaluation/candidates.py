"""Who takes part in a run: a contender with what it needs to answer. No I/O."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ingest.model import sha256
from navigator.evaluation.questions import EvalQuestion
from navigator.evaluation.results import Contender, dump_contender
from navigator.ports import Model
from navigator.strategies.strategy import Strategy

Player = Callable[[EvalQuestion], Model]
"""The model that answers a question, or the reader in its place, which may know the question's gold."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """`made_from` names all else that its answers depend on: model, index, settings. `told_gold`: so do they on the
    question's gold."""

    contender: Contender
    strategy: Strategy
    player: Player
    made_from: str
    told_gold: bool = False

    def fingerprint(self, question: EvalQuestion) -> str:
        """What an answer is an answer to; one with another fingerprint is of no use any more."""
        gold = [str(gold) for gold in question.gold] if self.told_gold else []
        return sha256(question.question, dump_contender(self.contender), self.made_from, *gold)[:16]
