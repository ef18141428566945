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

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from statistics import fmean

from navigator.answer import Usage
from navigator.batch.runner import Progress, Show, run_batch, unseen
from navigator.models.complete import complete
from navigator.ports import Model
from navigator.strategies.rdr2.actions import Routed, read_actions
from navigator.strategies.rdr2.examples import Example


@dataclass(frozen=True, slots=True)
class RoutingFigures:
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
    figures: RoutingFigures
    usage: Usage
    failed: int = 0
    reason: str = ""
    ended: str = ""


def routing_figures(pairs: Iterable[tuple[Routed, Routed]]) -> RoutingFigures:
    """Of (what the router did, what the example does)."""
    compared = list(pairs)
    both = sum(len(set(did.selected) & set(gold.selected)) for did, gold in compared)
    chosen = sum(len(did.selected) + len(gold.selected) for did, gold in compared)
    unfolded = [did.expand == gold.expand for did, gold in compared if did.expand is not None]
    return RoutingFigures(
        ans_f1=2 * both / chosen if chosen else None,
        exp_precision=_mean(unfolded),
        ref_accuracy=_mean([did.refused == gold.refused for did, gold in compared]),
        expelled=_mean([len(did.invalid_lines) / did.lines if did.lines else 0.0 for did, _ in compared]),
        collapsed=_mean([did.collapsed for did, _ in compared]),
    )


async def score_router(
    model: Model, examples: Sequence[Example], *, workers: int = 4, show: Show = unseen
) -> RouterScore:
    """Ask for each example, `workers` side by side. `show` is told of all progress."""
    pairs: list[tuple[Routed, Routed]] = []
    usages: list[Usage] = []

    async def ask(example: Example) -> None:
        written = await complete(model, example.system, example.prompt)
        usages.append(written.usage)
        pairs.append((read_actions(written.text, example.choices), example.routed))

    progress = await run_batch(examples, ask, Progress(len(examples)), workers=workers, show=show)
    return RouterScore(
        model=model.name,
        examples=len(examples),
        asked=len(pairs),
        figures=routing_figures(pairs),
        usage=reduce(add, usages, Usage()),
        failed=progress.failed,
        reason=progress.failure,
        ended=progress.ended,
    )


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None
