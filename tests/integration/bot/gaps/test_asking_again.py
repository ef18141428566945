"""A place changed: which gaps are asked again, when, how often, and what they say then."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.gaps.asking_again import ASKING, GAPS_GROUP, MAX_ASKED, WAIT, AskingAgain, AskingLimits, GapChanges, answers
from bot.gaps.gap import AskedAgain, Gap, GapState
from bot.model import Exchange
from ingest.events.codec import dump_nodes
from ingest.events.sqlite import SqliteEventLog
from ingest.events.topics import NODES
from ingest.model import NodeChange, NodesEvent
from navigator.answer import Answer, CitedSource, Trace, Usage
from tests.fakes.exchanges import NOON, answer, answered, passage
from tests.fakes.lacking import KEYS, Lacking, lacking
from tests.waiting import eventually

FOUND = Answer(
    "?", "Rotate it. [1]", "answered", (CitedSource(1, (passage(7).cite(0),)),), trace=Trace(usage=Usage(cost=1.0))
)
NOT_FOUND = replace(FOUND, outcome="not_found", sources=())
TEXTS = [f"How do I rotate a key before expiry number {number}?" for number in range(5)]
MIDNIGHT = datetime(2026, 5, 2, tzinfo=UTC)


class Asked:
    """Whoever answers; `says` what, by the text of the question. `asked`: what was."""

    def __init__(self, **says: Answer | Exception) -> None:
        self.says = says
        self.asked: list[str] = []

    async def __call__(self, exchange: Exchange) -> Answer:
        self.asked.append(exchange.asked)
        said = self.says.get(exchange.asked[-2:-1], NOT_FOUND)
        if isinstance(said, Exception):
            raise said
        return said


async def one_gap(here: Lacking, count: int = 2) -> Gap:
    for number in range(count):
        await here.asked(number, TEXTS[number], "Key expiry")
    await here.grouping().look()
    (gap,) = await here.all()
    return gap


async def due(here: Lacking, *, state: GapState = "open") -> Gap:
    (gap,) = await here.all()
    kept = await here.gaps.gap(gap.id)
    assert kept is not None
    made = replace(kept.gap, state=state, changed_by="the change", due_at=here.clock.now())
    await here.gaps.keep(made, kept.revision)
    return made


def worker(here: Lacking, ask: Asked, **limits: float) -> AskingAgain:
    return AskingAgain(here.store, here.gaps, ask, here.clock, AskingLimits(**limits))  # type: ignore[arg-type]


@asynccontextmanager
async def listening(here: Lacking, folder: Path) -> AsyncIterator[SqliteEventLog]:
    """Until every change that was told was heard."""
    async with SqliteEventLog(folder / "events.sqlite", here.clock) as events:
        changes = GapChanges(events, here.gaps, here.clock)
        running = asyncio.create_task(changes.run())
        yield events

        async def heard() -> bool:
            return not await events.lag(NODES, GAPS_GROUP)

        await eventually(heard)
        changes.stop()
        await running


def told(*nodes: str, parts: tuple[str, ...] = ()) -> bytes:
    changes = tuple(NodeChange(node, "changed", parts) for node in nodes)
    return dump_nodes(NodesEvent("e", KEYS, "docs", 1, "live", NOON, changes))


async def test_a_gap_is_due_a_while_after_the_first_change_of_what_it_watches(tmp_path: Path) -> None:
    async with lacking(tmp_path) as here:
        await one_gap(here)
        expiry, backup = await here.node("Key expiry"), await here.node("Restore")
        async with listening(here, tmp_path) as events:
            await events.append(NODES, KEYS, b"no event")
            await events.append(NODES, KEYS, told(backup))
        assert (await here.all())[0].due_at is None
        async with listening(here, tmp_path) as events:
            await events.append(NODES, KEYS, told(backup, parts=(expiry,)))
        here.clock.time += timedelta(minutes=5)
        async with listening(here, tmp_path) as events:
            await events.append(NODES, KEYS, told(await here.node("Keys")))
        (gap,) = await here.all()
        assert (gap.due_at, gap.changed_by) == (NOON + WAIT, f"the change of {KEYS} on 2026-05-01")


@pytest.mark.parametrize("state", ["fixed", "ignored"])
async def test_what_is_closed_is_not_asked_again(tmp_path: Path, state: GapState) -> None:
    async with lacking(tmp_path) as here:
        gap = await one_gap(here)
        kept = await here.gaps.gap(gap.id)
        assert kept is not None
        await here.gaps.keep(gap.put(state, NOON), kept.revision)
        async with listening(here, tmp_path) as events:
            await events.append(NODES, KEYS, told(await here.node("Key expiry")))
        assert (await here.all())[0].due_at is None


@pytest.mark.parametrize(
    ("says", "expected"),
    [
        ({"0": FOUND, "1": FOUND}, ("fixed", "the change", AskedAgain(NOON, 2, 2), None)),
        ({"0": FOUND}, ("taken", "", AskedAgain(NOON, 2, 1), None)),
        ({}, ("taken", "", AskedAgain(NOON, 2, 0), None)),
        ({"0": replace(FOUND, unsupported=("So I think.",)), "1": FOUND}, ("taken", "", AskedAgain(NOON, 2, 1), None)),
        ({"0": replace(NOT_FOUND, outcome="failed"), "1": FOUND}, ("fixed", "the change", AskedAgain(NOON, 1, 1), None)),
        (dict.fromkeys("01", replace(NOT_FOUND, outcome="failed")), ("taken", "", None, MIDNIGHT)),
        (dict.fromkeys("01", TimeoutError()), ("taken", "", None, MIDNIGHT)),
    ],
    ids=["all", "one", "none", "in part", "one failed", "all failed", "timeout"],
)  # fmt: skip
async def test_a_gap_says_what_its_questions_get_now(
    tmp_path: Path, says: dict[str, Answer | Exception], expected: tuple[object, ...]
) -> None:
    async with lacking(tmp_path) as here:
        await one_gap(here)
        await due(here, state="taken")
        await asyncio.gather(*(worker(here, ask := Asked(**says)).look() for _ in range(3)))
        (gap,) = await here.all()
        assert (gap.state, gap.fixed_by, gap.asked_again, gap.due_at) == expected
        assert len(ask.asked) <= 2


async def test_the_newest_questions_that_differ_are_asked_each_once(tmp_path: Path) -> None:
    async with lacking(tmp_path) as here:
        await one_gap(here, 5)
        await here.asked(9, TEXTS[4], "Key expiry")
        await here.grouping().look()
        await due(here)
        ask = Asked()
        await asyncio.gather(*(worker(here, ask).look() for _ in range(4)))
        assert ask.asked == TEXTS[: -MAX_ASKED - 1 : -1]


@pytest.mark.parametrize("limits", [{"per_day": 3}, {"daily_cost": 5.0}, {"per_day": 0}])
async def test_a_day_has_its_ceiling_and_what_is_over_waits_for_the_next(
    tmp_path: Path, limits: dict[str, float]
) -> None:
    async with lacking(tmp_path) as here:
        await one_gap(here)
        ask = Asked(**{"0": FOUND})
        for _ in range(3):
            await due(here)
            await worker(here, ask, **limits).look()
        assert len(ask.asked) == (0 if limits.get("per_day") == 0 else 3)
        assert [gap.due_at for gap in await here.all()] == [MIDNIGHT]


async def test_what_changes_while_it_is_asked_makes_it_due_once_more(tmp_path: Path) -> None:
    async with lacking(tmp_path) as here:
        await one_gap(here, 1)
        await due(here)

        class EditedMeanwhile(Asked):
            async def __call__(self, exchange: Exchange) -> Answer:
                async with listening(here, tmp_path) as events:
                    await events.append(NODES, KEYS, told(await here.node("Key expiry")))
                return await super().__call__(exchange)

        await worker(here, EditedMeanwhile()).look()
        (gap,) = await here.all()
        assert (gap.due_at, gap.asked_again) == (NOON + WAIT, AskedAgain(NOON, 1, 0))


async def test_whoever_dies_over_asking_leaves_it_to_the_next(tmp_path: Path) -> None:
    async with lacking(tmp_path) as here:
        await one_gap(here, 1)
        await due(here)
        with pytest.raises(ConnectionError):
            await worker(here, Asked(**{"0": ConnectionError()})).look()
        ask = Asked(**{"0": FOUND})
        await worker(here, ask).look()
        assert ask.asked == []
        here.clock.time += ASKING
        await worker(here, ask).look()
        assert (await here.all())[0].state == "fixed"


@pytest.mark.parametrize(
    ("now", "better"),
    [
        (FOUND, True),
        (replace(answer(), unsupported=()), False),
        (replace(answer(), unsupported=(), sources=(CitedSource(1, (replace(passage(1), node_hash="new").cite(0),)),)), True),
        (NOT_FOUND, False),
        (replace(FOUND, unsupported=("So I think.",)), False),
    ],
    ids=["another section", "the same text", "the section says something else", "nothing", "in part"],
)  # fmt: skip
def test_a_wanting_answer_is_better_only_where_it_rests_on_what_was_not_there(now: Answer, *, better: bool) -> None:
    assert answers(now, answered()) is better
