"""What wins, and at what cost: a few sentences that follow from the figures. Pure.

Scripted readers never win: they are no answers. Contenders are ranked by the judge's verdicts; where nobody
judged, by token recall; where there are no gold answers either, by F1 of what was read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from navigator.evaluation.report.formats import chance, money, named, percent, seconds
from navigator.evaluation.report.scores import Proportion, Row
from navigator.evaluation.report.summary import Pair, RunSummary

ALPHA = 0.05
"""A corrected p below this is beyond chance."""


def headline(summary: RunSummary) -> tuple[str, ...]:
    """At least one sentence."""
    rows = [row for row in summary.rows if row.asked]
    real = [row for row in rows if not row.contender.reader]
    if judged := [row for row in real if row.accuracy]:
        sentences = [_best(judged, _accuracy, "is right most often", "is right on"), *_cost(judged, summary.pairs)]
    elif worded := [row for row in real if row.token_recall is not None]:
        sentences = [
            "No model judged the answers.",
            _best(worded, lambda row: row.token_recall, "has the highest token recall", "has a token recall of"),
        ]
    elif read := [row for row in real if row.reading_f1 is not None]:
        sentences = [
            "There are no judged answers and no gold answers: this compares what was read.",
            _best(read, lambda row: row.reading_f1, "reads best, by F1", "reads with an F1 of"),
        ]
    elif read := [row for row in rows if row.reading_f1 is not None]:
        sentences = [
            "No model answered: scripted readers played in its place, and what they read shows limits, not answers.",
            _best(read, lambda row: row.reading_f1, "reads what is nearest to the gold, by F1", "reads with an F1 of"),
        ]
    else:
        sentences = ["There is no judge, no gold answer and no gold section: nothing here says who is better."]
    return (*sentences, *_uneven(real), *_synthetic(summary))


def _accuracy(row: Row) -> float | None:
    return row.accuracy.value if row.accuracy else None


def _best(rows: Sequence[Row], figure: Callable[[Row], float | None], most: str, alone: str) -> str:
    """The contender with the highest figure, or all of them."""
    values = [figure(row) or 0.0 for row in rows]
    best = [row for row, value in zip(rows, values, strict=True) if value == max(values)]
    share = best[0].accuracy if figure is _accuracy and len(best) == 1 else None
    told = _share(share) if share else percent(max(values))
    at = f", at {_price(best[0])}" if len(best) == 1 and not best[0].contender.reader else ""
    names = _listed([named(row.contender) for row in best])
    if len(rows) == 1:
        return f"{names} {alone} {told}{at}."
    if len(best) == len(rows):
        return f"All {len(rows)} contenders are level: {told}."
    return f"{names} {most if len(best) == 1 else 'share the best figure'}: {told}{at}."


def _share(share: Proportion) -> str:
    asked = f"{share.of} question{'' if share.of == 1 else 's'}"
    return f"{percent(share.value)} of {asked} (95% interval {100 * share.low:.0f}–{100 * share.high:.0f}%)"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _price(row: Row) -> str:
    cost = "unknown cost" if row.cost is None else f"{money(row.cost)} a question"
    return f"{cost} and {seconds(row.seconds_p50)} (median)" if row.seconds_p50 is not None else cost


def _cost(rows: Sequence[Row], pairs: Sequence[Pair]) -> list[str]:
    """The cheapest of those that read, beside the best, and whether chance may have made the difference."""
    best = min(rows, key=lambda row: (-(_accuracy(row) or 0.0), row.cost or 0.0))
    readers = [row for row in rows if row.contender.strategy != "none"]
    if len(rows) < 2 or not readers:
        return []
    if any(row.cost is None or row.cost_known < row.asked for row in rows):
        return ["Costs are not known for all answers, so that no contender can be called the cheapest."]
    cheapest = min(readers, key=lambda row: (row.cost or 0.0, -(_accuracy(row) or 0.0)))
    among = "Of those that read the documentation, " if len(readers) < len(rows) else ""
    if cheapest.cost == best.cost:
        return [f"{among}{'n' if among else 'N'}othing costs less than {named(best.contender)}."]
    right = f"is right on {percent(_accuracy(cheapest))}{_beyond_chance(best, cheapest, pairs)}"
    return [f"{among}{named(cheapest.contender)} costs least, {money(cheapest.cost)} a question, and {right}."]


def _beyond_chance(best: Row, other: Row, pairs: Sequence[Pair]) -> str:
    labels = {best.contender.label, other.contender.label}
    p = next((pair.p_corrected for pair in pairs if {pair.first, pair.second} == labels), None)
    if p is None:
        return ""
    verdict = "is beyond chance" if p < ALPHA else "may be chance"
    return f"; the difference from {named(best.contender)} {verdict} (p {'' if p < 0.001 else '= '}{chance(p)})"


def _uneven(rows: Sequence[Row]) -> list[str]:
    judged = {row.accuracy.of for row in rows if row.accuracy}
    return ["They were not all judged on the same questions."] if len(judged) > 1 else []


def _synthetic(summary: RunSummary) -> list[str]:
    if not summary.synthetic:
        return []
    checked = f"{summary.unchecked} of them checked by nobody" if summary.unchecked else "checked by a person"
    asked = f"{summary.questions} question{'' if summary.questions == 1 else 's'}"
    verb = "is" if summary.synthetic == 1 else "are"
    return [f"{summary.synthetic} of {asked} {verb} synthetic, {checked}."]
