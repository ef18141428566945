"""From material to a question in the file, or to the check that refused it; and how a run ends, and goes on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from navigator.batch.ledger import CEILING, Ledger, MeteredModel
from navigator.batch.runner import MAX_FAILURES_IN_A_ROW, Progress
from navigator.evaluation.proposing.checks import REFUSALS
from navigator.evaluation.proposing.material import Material
from navigator.evaluation.proposing.question_file import QuestionsFile
from navigator.evaluation.proposing.run import (
    MAX_PROPOSALS_PER_QUESTION,
    KnownQuestions,
    Proposing,
    accepted,
    plan_proposals,
)
from navigator.evaluation.questions import EvalQuestion, load_questions
from navigator.models.prices import Prices
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.proposer import COST, Passage, Proposer
from tests.unit.navigator.evaluation.proposing.made import PORT, sections

PRICES, MAX_OUTPUT_TOKENS = Prices(1.0, 5.0), 500
EACH = 4 * COST
"""What an accepted proposal costs."""


def say(name: str) -> str:
    """A section of words of its own, in English; Proposer takes its first sentence for what it says."""
    words = [f"{name}{number}" for number in range(20)]
    return f"{' '.join(words[:10])}. {' '.join(words[10:])}. It is set to what is in the list, and can be on or off."


def first(name: str) -> str:
    return say(name).partition(". ")[0] + "."


NAMES = ("valve", "seal", "lamp", "door", "hook", "rail", "cord", "tray")
SINGLES = [Material((section,)) for section in sections(*(say(name) for name in NAMES))]
PAIR = Material(tuple(sections(say("fan"), say("belt"))))


class Desk:
    """A file, and runs over it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    async def run(
        self,
        model: Proposer,
        count: int = 50,
        materials: Sequence[Material] = SINGLES,
        ledger: Ledger | None = None,
        **how: Any,
    ) -> Progress:
        with QuestionsFile(self.path) as file:
            known, how = KnownQuestions(HashingEmbedder()), {"workers": 1, **how}
            ledger = ledger or Ledger()
            metered = MeteredModel(model, ledger, PRICES, MAX_OUTPUT_TOKENS)
            return await Proposing(metered, ledger, known, file, count=count, **how).run(each(materials))

    @property
    def questions(self) -> list[EvalQuestion]:
        return load_questions(self.path.read_text(encoding="utf-8")) if self.path.exists() else []

    @property
    def asked(self) -> list[dict[str, Any]]:
        beside = self.path.with_name(self.path.name + ".asked")
        return [json.loads(line) for line in beside.read_text(encoding="utf-8").splitlines()]


async def each(materials: Sequence[Material]) -> AsyncIterator[Material]:
    for material in materials:
        yield material


def refusals(progress: Progress) -> dict[str, int]:
    """How many each check refused."""
    return {name: count for name, count in progress.outcomes.items() if name in REFUSALS}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "questions.jsonl")


async def test_a_good_proposal_takes_four_turns_and_stands_in_the_file(desk: Desk) -> None:
    model = Proposer()
    ledger = Ledger()
    progress = await desk.run(model, 2, ledger=ledger)
    assert model.asked == ["propose", "guess", "answer", "judge"] * 2
    assert (progress.done, progress.outcomes, progress.ended) == (2, {"single-section": 2}, "")
    assert ledger.used.cost == pytest.approx(2 * EACH)
    assert [question.answers for question in desk.questions] == [(first("valve"),), (first("seal"),)]
    assert all(question.synthetic and not question.checked for question in desk.questions)


BAD: dict[str, tuple[Any, str]] = {
    "nothing": (lambda made, passages: {"question": None}, "nothing"),
    "empty": (lambda made, passages: "", "form"),
    "broken": (lambda made, passages: '{"question": "Why', "form"),
    "declined": (lambda made, passages: "I would rather not.", "form"),
    "foreign": (lambda made, passages: made | {"question": "Wie kann ich das Ventil von der Pumpe ändern?"}, "language"),
    "invented": (lambda made, passages: made | {"quotes": [{"passage": 1, "words": "The pump can fly to the moon."}]}, "quotes"),
    "pointing": (lambda made, passages: made | {"question": "What does this section say about valves?"}, "pointing"),
}  # fmt: skip


@pytest.mark.parametrize("bad", BAD)
async def test_a_bad_proposal_is_refused_before_more_is_asked_and_never_asked_for_again(desk: Desk, bad: str) -> None:
    spoil, check = BAD[bad]
    model = Proposer(spoil=spoil)
    progress = await desk.run(model, 1)
    assert model.asked == ["propose"] * MAX_PROPOSALS_PER_QUESTION
    assert refusals(progress) == {check: MAX_PROPOSALS_PER_QUESTION}
    assert not desk.path.exists()
    assert {row["refused"] for row in desk.asked} == {check}
    good = Proposer()
    await desk.run(good)
    assert len(good.materials) == len(SINGLES) - MAX_PROPOSALS_PER_QUESTION
    assert not [passages for passages in good.materials if passages in model.materials]


@pytest.mark.parametrize("how", ["refusal", "max_tokens"])
async def test_a_refusal_and_a_reply_that_is_cut_off_are_of_no_use(desk: Desk, how: Any) -> None:
    progress = await desk.run(Proposer(ends={"propose": how}), 1)
    assert refusals(progress) == {"form": MAX_PROPOSALS_PER_QUESTION}


async def test_who_declines_to_guess_or_to_answer_gave_no_answer(desk: Desk) -> None:
    assert refusals(await desk.run(Proposer(guesses=lambda q: first("valve"), ends={"guess": "refusal"}), 1)) == {}
    assert refusals(await desk.run(Proposer(ends={"answer": "refusal"}), 2)) == {"gold": MAX_PROPOSALS_PER_QUESTION}


async def test_a_question_that_titles_answer_is_refused(desk: Desk) -> None:
    model = Proposer(guesses=lambda question: first("valve"))
    progress = await desk.run(model)
    assert refusals(progress) == {"titles": 1}
    assert first("valve") not in {question.answers[0] for question in desk.questions}
    assert accepted(progress) == len(SINGLES) - 1, "a wrong guess does no harm"


@pytest.mark.parametrize("said", ["It is eleven.", "NOT KNOWN", ""])
async def test_a_question_that_its_own_sections_do_not_answer_is_refused(desk: Desk, said: str) -> None:
    progress = await desk.run(Proposer(answers=lambda question: said), 2)
    assert refusals(progress) == {"gold": progress.done}
    assert accepted(progress) == 0


async def test_a_judge_that_gives_no_verdict_accepts_nothing(desk: Desk) -> None:
    progress = await desk.run(Proposer(verdict="Looks fine to me."), 1)
    assert refusals(progress) == {"gold": MAX_PROPOSALS_PER_QUESTION}


async def test_the_same_question_is_accepted_once(desk: Desk) -> None:
    same = "How is the valve of the intake set before the motor starts?"
    model = Proposer(spoil=lambda made, passages: made | {"question": same})
    progress = await desk.run(model, 3, workers=4)
    assert accepted(progress) == 1
    assert refusals(progress) == {"twice": len(SINGLES) - 1}


async def test_two_that_find_the_same_question_at_the_same_time_add_it_once(desk: Desk) -> None:
    def spoil(made: dict[str, Any], passages: list[Passage]) -> dict[str, Any]:
        return (
            made
            if "valve" in passages[0][2]
            else made | {"question": "How is the vent opened before the motor starts?"}
        )

    model = Proposer(spoil=spoil, pace=0.01)
    progress = await desk.run(model, 6, SINGLES[:4], workers=4)
    assert model.asked.count("guess") > 2, "they are under way together"
    assert (accepted(progress), refusals(progress)) == (2, {"twice": 2})


async def test_a_question_that_people_wrote_is_not_proposed_again(desk: Desk) -> None:
    same = "How is the valve of the intake set before the motor starts?"
    model = Proposer(spoil=lambda made, passages: made | {"question": same + " "})
    progress = await desk.run(model, 1, examples=[EvalQuestion("x", same)])
    assert refusals(progress) == {"twice": MAX_PROPOSALS_PER_QUESTION}


async def test_a_section_that_proves_nothing_is_no_gold_and_is_not_shown_to_who_answers(desk: Desk) -> None:
    model = Proposer(spoil=lambda made, passages: made | {"quotes": made["quotes"][:1], "answer": made["nuggets"][0]})
    progress = await desk.run(model, 1, [PAIR])
    assert progress.outcomes == {"single-section": 1}
    assert [gold.node for gold in desk.questions[0].gold if gold.node] == ["a"]


async def test_what_only_a_section_without_a_quote_says_is_not_answered_from_the_gold(desk: Desk) -> None:
    model = Proposer(spoil=lambda made, passages: made | {"quotes": made["quotes"][:1]})
    assert refusals(await desk.run(model, 1, [PAIR])) == {"gold": 1}


# --- how a run ends, and goes on


async def test_the_run_stops_at_its_ceiling_and_goes_on_where_it_was(desk: Desk) -> None:
    ledger = Ledger(dollars=2.5 * EACH)
    progress = await desk.run(Proposer(), 6, ledger=ledger, workers=4)
    assert progress.ended == CEILING
    assert accepted(progress) == 2
    assert (ledger.used.cost or 0) <= 2.5 * EACH
    before = desk.path.read_bytes()
    again = await desk.run(Proposer(), 6)
    assert accepted(again) == 4
    assert desk.path.read_bytes().startswith(before)
    assert len({question.question for question in desk.questions}) == 6


async def test_more_side_by_side_find_no_more_than_wanted(desk: Desk) -> None:
    model = Proposer(pace=0.01)
    progress = await desk.run(model, 3, workers=8)
    assert accepted(progress) == 3 == len(desk.questions)
    assert model.asked.count("propose") == 3
    assert (await desk.run(model, 3)) == Progress(0)


async def test_a_fault_leaves_no_mark_and_its_material_is_asked_about_again(desk: Desk) -> None:
    progress = await desk.run(Proposer(faulty={2}), 3)
    assert (accepted(progress), progress.failed, progress.ended) == (3, 1, "")
    assert "overloaded" in progress.failure
    assert accepted(await desk.run(Proposer())) == len(SINGLES) - 3
    assert first("seal") in {question.answers[0] for question in desk.questions}


async def test_an_endpoint_that_fails_again_and_again_ends_the_run(desk: Desk) -> None:
    model = Proposer(faulty=range(1, 100))
    progress = await desk.run(model, 5, workers=4)
    assert MAX_FAILURES_IN_A_ROW <= progress.failed == len(model.asked) < MAX_FAILURES_IN_A_ROW + 4
    assert progress.ended == progress.failure
    assert desk.asked == []


async def test_a_run_that_is_cut_short_loses_nothing_and_asks_nothing_twice(desk: Desk) -> None:
    enough = asyncio.Event()

    def show(progress: Progress) -> None:
        if progress.done >= 3:
            enough.set()

    work = asyncio.create_task(desk.run(Proposer(pace=0.01), workers=3, show=show))
    await asyncio.wait_for(enough.wait(), 20)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    kept, done = desk.questions, {row["material"] for row in desk.asked}
    desk.path.write_bytes(desk.path.read_bytes() + b'{"id": "torn", "quest')
    later = Proposer()
    await desk.run(later)
    assert desk.questions[: len(kept)] == kept
    assert len(later.materials) == len(SINGLES) - len(done)
    assert len({question.question for question in desk.questions}) == len(desk.questions) == len(SINGLES)


async def test_what_a_person_marked_corrected_or_deleted_stays_so(desk: Desk) -> None:
    await desk.run(Proposer(), 3)
    lines = desk.path.read_text(encoding="utf-8").splitlines(keepends=True)
    mine = [lines[0].replace('"checked": false', '"checked": true'), lines[2].replace("How do I", "How would one")]
    desk.path.write_text("".join(mine), encoding="utf-8")
    gone = json.loads(lines[1])["id"]
    progress = await desk.run(Proposer(), 4)
    assert accepted(progress) == 2
    assert desk.path.read_text(encoding="utf-8").startswith("".join(mine))
    assert gone not in {question.id for question in desk.questions}


# --- when two questions are one


async def known(*questions: str) -> KnownQuestions:
    found = KnownQuestions(HashingEmbedder())
    for sense in await found.senses(questions):
        found.add(sense)
    return found


async def has(found: KnownQuestions, question: str) -> bool:
    (sense,) = await found.senses([question])
    return found.has(sense)


async def test_the_same_words_are_the_same_question_whatever_the_signs() -> None:
    there = await known("How do I change the port of Pump?")
    assert await has(there, "how do I change  the PORT of `Pump`")


async def test_nearly_the_same_meaning_is_the_same_question() -> None:
    there = await known("How do I change the port that the Pump service listens on?")
    assert await has(there, "How do I change the port that the Pump service listens on today?")
    assert not await has(there, "How often is the seal greased, and with what?")


async def test_nothing_is_known_at_first() -> None:
    there = await known()
    assert not await has(there, "How do I change the port?")
    assert await there.senses([]) == []


# --- what a run will take


PORTS = [Material((section,)) for section in sections(PORT, PORT * 3)]


def test_the_plan_grows_with_the_questions_and_costs_what_its_tokens_cost() -> None:
    one, ten = plan_proposals(2, PORTS, (), Prices(1.0, 5.0)), plan_proposals(20, PORTS, (), Prices(1.0, 5.0))
    assert (one.questions, one.proposals, one.calls) == (2, 3, 14)
    assert (ten.proposals, ten.calls) == (30, 135)
    assert ten.cost == pytest.approx((ten.input_tokens * 1.0 + ten.output_tokens * 5.0) / 1e6, rel=0.001)
    assert ten.input_tokens == pytest.approx(10 * one.input_tokens, rel=0.001)


def test_examples_and_longer_sections_take_more() -> None:
    plain = plan_proposals(10, PORTS[:1], (), None).input_tokens
    assert plan_proposals(10, PORTS[1:], (), None).input_tokens > plain
    assert plan_proposals(10, PORTS[:1], [EvalQuestion("a", "Why?" * 30)], None).input_tokens > plain


@pytest.mark.parametrize("prices", [None, Prices(), Prices(input=1.0)])
def test_without_prices_the_cost_is_not_known(prices: Prices | None) -> None:
    assert plan_proposals(10, PORTS, (), prices).cost is None
