"""Questions find their gaps: by need, whoever sorts them, in whatever order they come."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot.gaps.grouping import OPENING, follow_log, lacking_sections
from bot.model import Exchange
from bot.ports import BotStore
from tests.fakes.exchanges import NOON, answer, answered, passage, question, waiting
from tests.fakes.lacking import KEYS, Lacking, lacking

ROTATE = "How do I rotate a key before expiry?"
OTHER_WORDS = "Can I replace a key before its expiry?"
WINDOWS = "Does it run on Windows Server 2022?"


async def of(here: Lacking, *exchanges: Exchange) -> list[str]:
    needs = [(await here.kept(each)).need for each in exchanges]
    assert all(needs)
    return [need.gap for need in needs if need]


async def test_one_need_in_two_wordings_is_one_gap_pinned_to_its_section(tmp_path: Path) -> None:
    async with lacking(tmp_path) as here:
        first = await here.asked(1, ROTATE, "Key expiry", "Create a key", "Keys")
        second = await here.asked(2, OTHER_WORDS, "Key expiry", "Keys", "Create a key")
        third = await here.asked(3, WINDOWS, "Restore")
        await here.grouping().look()
        one, two, three = await of(here, first, second, third)
        assert one == two != three
        found = {gap.id: gap for gap in await here.all()}
        assert found.keys() == {one, three}
        pin = found[one].pin
        assert pin is not None
        assert (pin.path, pin.link) == (("Keys", "Key expiry"), f"{KEYS}#expiry")
        assert set(found[one].watched) == {await here.node(title) for title in ("Keys", "Key expiry", "Create a key")}


async def test_the_gap_has_the_same_id_whichever_of_its_questions_came_first(tmp_path: Path) -> None:
    ids = set()
    asked = [
        (1, ROTATE, "Key expiry", "Create a key", "Keys"),
        (2, OTHER_WORDS, "Key expiry", "Keys"),
        (3, "May I rotate a key before expiry?", "Key expiry"),
    ]
    for number, order in enumerate(itertools.permutations(asked)):
        async with lacking(tmp_path / str(number)) as here:
            for each in order:
                await here.asked(*each)
                await here.grouping().look()
            ids |= {gap.id for gap in await here.all()}
    assert len(ids) == 1


async def test_many_who_sort_at_once_make_one_gap_and_every_question_has_one(tmp_path: Path) -> None:
    async with lacking(tmp_path) as here:
        asked = [await here.asked(number, ROTATE, "Key expiry") for number in range(6)]
        await asyncio.gather(*(here.grouping().look() for _ in range(4)))
        assert len(set(await of(here, *asked))) == len(await here.all()) == 1
        assert await here.store.asked_in_vain("") == []


async def test_where_nothing_is_left_of_what_was_offered_the_gap_is_pinned_nowhere(tmp_path: Path) -> None:
    async with lacking(tmp_path) as here:
        exchange = Exchange(question(1), state="done", answer=replace(answer(), outcome="not_found", sources=()))
        await here.store.keep(exchange, None)
        await here.grouping().look()
        (gap,) = await here.all()
        assert gap.pin is None


async def test_a_question_after_the_gap_was_closed_opens_it_again_and_one_that_is_ignored_stays_so(
    tmp_path: Path,
) -> None:
    async with lacking(tmp_path) as here:
        await here.asked(1, ROTATE, "Key expiry")
        await here.grouping().look()
        (gap,) = await here.all()
        for state, since, expected in (("fixed", 5, "fixed"), ("ignored", 0, "ignored"), ("fixed", 0, "open")):
            kept = await here.gaps.gap(gap.id)
            assert kept is not None
            await here.gaps.keep(kept.gap.put(state, NOON + timedelta(minutes=since), "a change"), kept.revision)  # type: ignore[arg-type]
            number = 2 + len(await here.store.asked_in_vain(gap.id))
            await here.asked(number, ROTATE, "Key expiry", asked_at=NOON + timedelta(minutes=2))
            await here.grouping().look()
            assert [each.state for each in await here.all()] == [expected]


async def test_what_is_forgotten_or_expired_leaves_nothing_in_a_gap(tmp_path: Path) -> None:
    async with lacking(tmp_path) as here:
        await here.asked(1, ROTATE, "Key expiry")
        second = await here.asked(2, ROTATE, "Key expiry", user="U2")
        await here.asked(3, WINDOWS, "Restore")
        await here.grouping().look()
        (shared,) = set(await of(here, second))
        await here.store.forget("U1")
        await follow_log(here.store, here.gaps, here.clock)
        left = await here.all()
        assert [(gap.question, gap.vector) for gap in left] == [("", ())] * 2
        here.clock.time += OPENING + timedelta(seconds=1)
        assert await follow_log(here.store, here.gaps, here.clock) == 1
        assert [gap.id for gap in await here.all()] == [shared]
        fourth = await here.asked(4, ROTATE, "Key expiry", user="U3")
        await here.grouping().look()
        assert await of(here, fourth) == [shared]
        (gap,) = await here.all()
        assert gap.question == second.question.id


async def test_another_embedding_model_compares_questions_anew(tmp_path: Path) -> None:
    async with lacking(tmp_path) as here:
        first = await here.asked(1, ROTATE, "Key expiry")
        await here.grouping().look()
        here.site.embedder.name = "another"
        second = await here.asked(2, OTHER_WORDS, "Key expiry")
        await here.grouping().look()
        assert len(set(await of(here, first, second))) == 1
        assert [gap.embedder for gap in await here.all()] == ["another"]


class Dying:
    """A store that is gone after so many writes."""

    def __init__(self, store: BotStore, writes: int) -> None:
        self._store = store
        self._writes = writes

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    async def keep(self, gap: object, expected: str | None) -> str:
        if not self._writes:
            raise ConnectionError("died")
        self._writes -= 1
        return await self._store.keep(gap, expected)  # type: ignore[arg-type]


@pytest.mark.parametrize("writes", [0, 1])
async def test_whoever_dies_over_a_question_leaves_it_to_the_next(tmp_path: Path, writes: int) -> None:
    async with lacking(tmp_path) as here:
        first = await here.asked(1, ROTATE, "Key expiry")
        gaps, here.gaps = here.gaps, Dying(here.gaps, writes)  # type: ignore[arg-type, assignment]
        with pytest.raises(ConnectionError):
            await here.grouping().look()
        here.gaps = gaps
        second = await here.asked(2, ROTATE, "Key expiry")
        await here.grouping().look()
        assert len(set(await of(here, first, second))) == len(await here.all()) == 1


N = [f"n{number}" for number in range(1, 11)]


@pytest.mark.parametrize(
    ("exchange", "sections"),
    [
        (answered(), [N[0]]),
        (replace(answered(), answer=replace(answer(), outcome="not_found", sources=())), N[:2]),
        (replace(answered(), answer=replace(answer(reads=5), sources=(), nearest=(passage(9), passage(4)))), [N[3]]),
        (replace(answered(), answer=replace(answer(reads=0), sources=(), nearest=(passage(9),))), [N[8]]),
        (replace(answered(), answer=replace(answer(reads=0), sources=(), nearest=())), N[:3]),
        (waiting(), []),
    ],
    ids=["cited", "read", "nearest of what was read", "nearest", "offered", "no answer"],
)
def test_where_an_answer_should_have_stood(exchange: Exchange, sections: list[str]) -> None:
    assert list(lacking_sections(exchange)) == sections
