"""Asking about every content once: what is kept, and what is counted."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest

from ingest.notes import NoteEntry, SectionSummary, Spent
from navigator.answer import Usage
from navigator.enrichment.note_prompts import NotePrompt
from navigator.enrichment.run import EnrichmentPlan, NoteWriter, plan_notes, spent_by
from navigator.errors import ModelRejected
from navigator.models.prices import Prices
from navigator.ports import ModelEvent, TextDelta, TurnEnd
from tests.fakes.model import ScriptedModel
from tests.fakes.notes import MemoryNotes

PRICES = Prices(1.0, 5.0, 0.1, 1.25)
USED = Usage(100, 20, 50, 0, cost=0.001)


def prompt(name: str) -> NotePrompt:
    def read(reply: str) -> SectionSummary:
        if "bad" in reply:
            raise ValueError("bad")
        return SectionSummary(reply, ())

    return NotePrompt("summary", name, "1", "system", f"prompt of {name}", 90, read)


async def each(prompts: Sequence[NotePrompt]) -> AsyncIterator[NotePrompt]:
    for made in prompts:
        yield made


def reply(text: str, usage: Usage = USED, **how: object) -> list[ModelEvent]:
    return [TextDelta(text), TurnEnd(how.get("reason", "end"), usage)]  # type: ignore[arg-type]


PROMPTS = [prompt(name) for name in "abc"]


async def test_what_is_answered_is_kept_with_what_it_cost() -> None:
    notes = MemoryNotes()
    writer = NoteWriter(ScriptedModel(reply("About.")), notes, workers=1)
    progress = await writer.run(each(PROMPTS[:2]))
    spent = Spent(1, 150, 20, 0.001, 0)
    assert notes.entries["summary:a"] == NoteEntry("summary", "a", "1", SectionSummary("About.", ()), 0, spent)
    assert (progress.outcomes, progress.done, writer.used, progress.ended) == ({"kept": 2}, 2, USED + USED, "")


@pytest.mark.parametrize(
    "useless",
    [reply("bad"), reply("About.", reason="refusal"), reply("About.", reason="max_tokens"), reply("bad", Usage())],
)
async def test_a_reply_of_no_use_is_counted_and_paid_but_never_kept(useless: list[ModelEvent]) -> None:
    notes = MemoryNotes()
    writer = NoteWriter(ScriptedModel(useless, reply("About.")), notes, workers=1)
    progress = await writer.run(each(PROMPTS[:2]))
    assert progress.outcomes == {"kept": 1, "useless": 1}
    entry = notes.entries["summary:a"]
    assert (entry.found, entry.failures, entry.spent.replies) == (None, 1, 1)
    assert notes.entries["summary:b"].found


async def test_a_call_that_fails_leaves_no_mark_and_the_next_is_asked() -> None:
    notes = MemoryNotes()
    model = ScriptedModel(ModelRejected("too large"), reply("About."))
    progress = await NoteWriter(model, notes, workers=1).run(each(PROMPTS))
    assert (progress.done, progress.failed, progress.failure, progress.ended) == (2, 1, "too large", "")
    assert sorted(notes.entries) == ["summary:b", "summary:c"]


async def test_a_plan_says_about_what_it_takes() -> None:
    plan = await plan_notes(each(PROMPTS[:2]), PRICES)
    read = 2 * PROMPTS[0].input
    assert (plan.questions, plan.input_tokens, plan.output_tokens) == (2, read, 180)
    assert plan.cost == pytest.approx((read + 180 * 5) / 1e6)
    assert (await plan_notes(each(PROMPTS[:2]), None)).cost is None
    assert await plan_notes(each([]), None) == EnrichmentPlan()


def test_tokens_from_a_cache_were_read_too() -> None:
    assert spent_by(Usage(1, 2, 3, 4)) == Spent(1, 8, 2, 0.0, 1)
