"""How well a router does by itself, on examples that were held out (RDR2 table 4).

Each prompt is put to the router, and what counts of its reply is compared with the example's actions. The paper names its
five figures in a word each; here they mean

- ANS-F1: F1 of the blocks selected, all examples together: precision is the share of the selected blocks that the examples
  select too, recall the share of theirs that were selected.
- EXP-PRE: of the replies that unfold a heading, how many unfold the one that the example does.
- REF-ACC: of all replies, how many refuse where the example does, and only there.
- Expelled: the share of a reply's lines that do not count, on average over the replies (an empty one has none).
- Collapsed: the share of the replies in which no line has the form of an action.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

import structlog

from ingest.concurrency import for_each
from navigator.answer import Usage
from navigator.errors import ModelError
from navigator.evaluation.ledger import Ledger
from navigator.models.complete import complete
from navigator.ports import Model
from navigator.strategies.rdr2.actions import Routed, read_actions
from navigator.strategies.rdr2.examples import Example

log = structlog.get_logger()

FAULTS = 8
"""Calls in a row that fail after their retries, after which a run ends."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Shares from 0 to 1; None where there is nothing to divide by."""

    ans_f1: float | None
    exp_precision: float | None
    ref_accuracy: float | None
    expelled: float | None
    collapsed: float | None


@dataclass(frozen=True, slots=True)
class RouterScore:
    """`asked` examples of `examples` were answered, `failed` were not, for the last `reason`. `ended`: why before all were
    asked, "" if they were."""

    model: str
    examples: int
    asked: int
    figures: Figures
    usage: Usage
    failed: int = 0
    reason: str = ""
    ended: str = ""


def figures(pairs: Iterable[tuple[Routed, Routed]]) -> Figures:
    """Of (what the router did, what the example does)."""
    compared = list(pairs)
    both = sum(len(set(did.selected) & set(gold.selected)) for did, gold in compared)
    chosen = sum(len(did.selected) + len(gold.selected) for did, gold in compared)
    unfolded = [did.expand == gold.expand for did, gold in compared if did.expand is not None]
    return Figures(
        ans_f1=2 * both / chosen if chosen else None,
        exp_precision=_mean(unfolded),
        ref_accuracy=_mean([did.refused == gold.refused for did, gold in compared]),
        expelled=_mean([len(did.invalid_lines) / did.lines if did.lines else 0.0 for did, _ in compared]),
        collapsed=_mean([did.collapsed for did, _ in compared]),
    )


async def score_router(
    model: Model,
    examples: Sequence[Example],
    *,
    ledger: Ledger | None = None,
    workers: int = 4,
    show: Callable[[int], None] = lambda done: None,
) -> RouterScore:
    """Ask for each example, `workers` side by side, within what the ledger allows. `show` is told how many were asked.
    Faults of the model are counted; several in a row end the run."""
    scoring = _Scoring(model, ledger or Ledger(), show)
    await for_each(scoring.until_ended(examples), scoring.ask, workers)
    return RouterScore(
        model=model.name,
        examples=len(examples),
        asked=len(scoring.pairs),
        figures=figures(scoring.pairs),
        usage=scoring.usage,
        failed=scoring.failed,
        reason=scoring.reason,
        ended=scoring.ended,
    )


class _Scoring:
    def __init__(self, model: Model, ledger: Ledger, show: Callable[[int], None]) -> None:
        self._model = model
        self._ledger = ledger
        self._show = show
        self._faults = 0
        self.pairs: list[tuple[Routed, Routed]] = []
        self.usage = Usage()
        self.failed = 0
        self.reason = ""
        self.ended = ""

    async def until_ended(self, examples: Sequence[Example]) -> AsyncIterator[Example]:
        for example in examples:
            if self.ended:
                return
            yield example

    async def ask(self, example: Example) -> None:
        tab = self._ledger.begin()
        if tab is None:
            self.ended = self.ended or self._ledger.refusal
            return
        try:
            written = await complete(self._model, example.system, example.prompt)
            tab.spend(written.usage)
            self.usage += written.usage
            self._faults = 0
            self.pairs.append((read_actions(written.text, example.choices), example.routed))
        except ModelError as error:
            self.failed += 1
            self.reason = str(error)
            self._faults += 1
            log.warning("router_failed", failures=self._faults, reason=self.reason)
            if self._faults >= FAULTS:
                self.ended = self.reason
        finally:
            tab.close()
        self._show(len(self.pairs) + self.failed)


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None
