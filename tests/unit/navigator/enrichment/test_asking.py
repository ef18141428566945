"""Asking about every content once: what is kept, what is counted, and when it ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from ingest.notes import NoteEntry, SectionSummary, Spent
from navigator.answer import Usage
from navigator.enrichment.budget import Budget, price, spent_by
from navigator.enrichment.question import OUTPUT_TOKENS, NotePrompt
from navigator.enrichment.run import CEILING, FAULTS, Asking, EnrichmentPlan, planned
from navigator.errors import ModelRejected, ModelUnreachable
from navigator.models.prices import Prices
from navigator.ports import ModelEvent, TextDelta, TurnEnd
from tests.fakes.model import ScriptedModel
from tests.fakes.notes import MemoryNotes

PRICES = Prices(1.0, 5.0, 0.1, 1.25)
USED = Usage(100, 20, 50, 0, cost=0.001)


def question(name: str) -> NotePrompt:
    def read(reply: str) -> SectionSummary:
        if "bad" in reply:
            raise ValueError("bad")
        return SectionSummary(reply, ())

    return NotePrompt("summary", name, "1", "system", f"prompt of {name}", 90, read)


async def each(questions: Sequence[NotePrompt]) -> AsyncIterator[NotePrompt]:
    for made in questions:
        yield made


def reply(text: str, usage: Usage = USED, **how: object) -> list[ModelEvent]:
    return [TextDelta(text), TurnEnd(how.get("reason", "end"), usage)]  # type: ignore[arg-type]


def budget(dollars: float | None = None, tokens: int | None = None, prices: Prices | None = PRICES) -> Budget:
    return Budget(prices, dollars=dollars, tokens=tokens)


def asking(model: ScriptedModel, notes: MemoryNotes, bounds: Budget | None = None, workers: int = 1) -> Asking:
    return Asking(model, notes, bounds or budget(), workers=workers)


NAMES = [question(name) for name in "abcdefghij"]


async def test_what_is_answered_is_kept_with_what_it_cost() -> None:
    notes = MemoryNotes()
    progress = await asking(ScriptedModel(reply("About.")), notes).run(each(NAMES[:2]))
    spent = Spent(1, 150, 20, 0.001, 0)
    assert notes.entries["summary:a"] == NoteEntry("summary", "a", "1", SectionSummary("About.", ()), 0, spent)
    assert (progress.kept, progress.done, progress.spent, progress.ended) == (2, 2, spent + spent, "")


@pytest.mark.parametrize(
    "useless",
    [reply("bad"), reply("About.", reason="refusal"), reply("About.", reason="max_tokens"), reply("bad", Usage())],
)
async def test_a_reply_of_no_use_is_counted_and_paid_but_never_kept(useless: list[ModelEvent]) -> None:
    notes = MemoryNotes()
    progress = await asking(ScriptedModel(useless, reply("About.")), notes).run(each(NAMES[:2]))
    assert (progress.kept, progress.useless) == (1, 1)
    entry = notes.entries["summary:a"]
    assert (entry.found, entry.failures, entry.spent.replies) == (None, 1, 1)
    assert notes.entries["summary:b"].found


async def test_a_call_that_fails_leaves_no_mark_and_the_next_is_asked() -> None:
    notes = MemoryNotes()
    model = ScriptedModel(ModelRejected("too large"), reply("About."))
    progress = await asking(model, notes).run(each(NAMES[:3]))
    assert (progress.kept, progress.failed, progress.failed_reason, progress.ended) == (2, 1, "too large", "")
    assert sorted(notes.entries) == ["summary:b", "summary:c"]


async def test_a_model_that_fails_again_and_again_ends_the_run() -> None:
    model = ScriptedModel(reply("About."), ModelUnreachable("no answer"))
    progress = await asking(model, MemoryNotes()).run(each(NAMES))
    assert (progress.kept, progress.failed, progress.ended) == (1, FAULTS, "no answer")
    assert len(model.asked) == 1 + FAULTS


async def test_nothing_is_begun_that_could_pass_the_ceiling() -> None:
    worst = price(PRICES, NAMES[0].input, OUTPUT_TOKENS) or 0.0
    for workers in (1, 4):
        model, bounds = ScriptedModel(reply("About.")), budget(dollars=worst + 4.5 * 0.001)
        progress = await asking(model, MemoryNotes(), bounds, workers).run(each(NAMES))
        assert (progress.kept, progress.ended) == (5, CEILING)
        assert bounds.spent.cost == pytest.approx(0.005)


async def test_a_ceiling_in_tokens_holds_where_no_price_is_known() -> None:
    free = reply("About.", Usage(100, 20))
    worst = NAMES[0].input + OUTPUT_TOKENS
    progress = await asking(ScriptedModel(free), MemoryNotes(), budget(tokens=worst + 250, prices=None)).run(
        each(NAMES)
    )
    assert (progress.kept, progress.ended) == (3, CEILING)
    assert progress.spent == Spent(3, 300, 60, 0.0, 3)


async def test_a_ceiling_below_a_single_call_asks_nothing() -> None:
    model = ScriptedModel(reply("About."))
    progress = await asking(model, MemoryNotes(), budget(dollars=1e-9), workers=4).run(each(NAMES))
    assert (progress.done, progress.ended, model.asked) == (0, CEILING, [])


async def test_a_call_waits_while_those_under_way_may_turn_out_cheaper() -> None:
    class Unhurried(ScriptedModel):
        async def turn(self, *args: object, **more: object) -> AsyncIterator[ModelEvent]:  # type: ignore[override]
            await asyncio.sleep(0.001)
            for event in reply("About."):
                yield event

    worst = price(PRICES, NAMES[0].input, OUTPUT_TOKENS) or 0.0
    bounds = budget(dollars=worst + 9.5 * 0.001)
    progress = await asking(Unhurried(), MemoryNotes(), bounds, workers=8).run(each(NAMES))
    assert (progress.kept, progress.ended) == (10, "")


async def test_side_by_side_means_as_many_as_there_are_workers() -> None:
    class Slow(ScriptedModel):
        under_way = most = 0

        async def turn(self, *args: object, **more: object) -> AsyncIterator[ModelEvent]:  # type: ignore[override]
            Slow.under_way += 1
            Slow.most = max(Slow.most, Slow.under_way)
            await asyncio.sleep(0)
            Slow.under_way -= 1
            for event in reply("About."):
                yield event

    progress = await asking(Slow(), MemoryNotes(), workers=3).run(each(NAMES))
    assert (progress.kept, Slow.most) == (10, 3)


async def test_a_plan_says_about_what_it_takes() -> None:
    plan = await planned(each(NAMES[:2]), PRICES)
    read = 2 * NAMES[0].input
    assert plan == EnrichmentPlan(2, read, 180, pytest.approx((read + 180 * 5) / 1e6))
    assert (await planned(each(NAMES[:2]), None)).cost is None
    assert await planned(each([]), None) == EnrichmentPlan()


def test_tokens_from_a_cache_were_read_too() -> None:
    assert spent_by(Usage(1, 2, 3, 4)) == Spent(1, 8, 2, 0.0, 1)
