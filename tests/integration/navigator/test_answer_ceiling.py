"""What one answer may cost: the ceiling holds in the worst case, and the question is answered from what was read."""

from collections.abc import AsyncIterator, Sequence

import pytest

from navigator.agent.ceiling import AnswerCeiling
from navigator.agent.prompts import RitBounds
from navigator.agent.run import OVER_CEILING
from navigator.answer import Answer, Usage
from navigator.errors import ModelUnreachable
from navigator.models.prices import Prices
from navigator.models.tokens import texts_given, tokens_in
from navigator.navigator import Navigator
from navigator.ports import CitationDelta, ModelEvent, TextDelta, Tool, Turn, TurnEnd
from navigator.retrieval.retriever import Recipe, Retriever
from navigator.strategies.build import FOR_PEOPLE, StrategyDeps, build
from tests.fakes.model import ScriptedModel, read, toc
from tests.fakes.site import IndexedSite, html, indexed_site
from tests.integration.navigator.strategies.setting import parts_of

PAGES = {
    f"https://docs.example.test/{name}.html": html(
        name,
        "".join(
            f"<h2 id='s{n}'>{name} {n}</h2><p>{f'Prime the pump {name} with water {n}. ' * 40}</p>" for n in range(9)
        ),
    )
    for name in ("Pumps", "Valves")
}
REPLY = 500
PRICES = Prices(1.0, 5.0)


class Billing(ScriptedModel):
    """Bills as much as a turn can cost at the most."""

    billed = Usage()

    async def turn(
        self, system: str, turns: Sequence[Turn], tools: Sequence[Tool], *, must_answer: bool = False
    ) -> AsyncIterator[ModelEvent]:
        given = sum(map(tokens_in, texts_given(system, turns, tools)))
        used = Usage(0, REPLY, 0, given, PRICES.cost(Usage(0, REPLY, 0, given)))
        self.billed += used
        async for event in super().turn(system, turns, tools, must_answer=must_answer):
            yield TurnEnd(event.reason, used, given) if isinstance(event, TurnEnd) else event


async def ask(
    site: IndexedSite,
    model: ScriptedModel,
    ceiling: AnswerCeiling,
    strategy: str = "rit",
    question: str = "prime a pump",
) -> Answer:
    retriever = Retriever(site.trees, site.index, site.embedder, Recipe())
    deps = StrategyDeps(retriever, site.trees, parts_of(site), RitBounds())
    return await Navigator({strategy: build(strategy, deps)}, model, lambda _: strategy, ceiling=ceiling).ask(question)


@pytest.fixture
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[IndexedSite]:
    async with indexed_site(tmp_path_factory.mktemp("site"), PAGES) as open_site:
        yield open_site


CITED: list[ModelEvent] = [TextDelta("With water."), CitationDelta(0, 0, 0, "")]


async def test_whatever_the_ceiling_no_answer_costs_more_and_each_ends(site: IndexedSite) -> None:
    outcomes = set()
    for tokens in (1, 3_000, 10_000, 12_000, 15_000, 20_000, 30_000, 60_000, 200_000):
        for ceiling in (
            AnswerCeiling(None, tokens, {}, REPLY),
            AnswerCeiling(tokens * 1.25 / 1e6, None, {"scripted": PRICES}, REPLY),
        ):
            model = Billing(toc("prime"), read(2, 3), read(4, 5), read(6, 7), CITED)
            answer = await ask(site, model, ceiling)
            outcomes.add(answer.outcome)
            assert model.billed.tokens <= tokens or ceiling.tokens is None
            assert (model.billed.cost or 0.0) <= (ceiling.dollars or 1e9) + 1e-9
            assert answer.trace.usage == model.billed
            assert answer.outcome == "answered" or answer.text == OVER_CEILING
    assert outcomes == {"answered", "failed"}


async def test_near_the_ceiling_the_model_must_answer_from_what_it_has(site: IndexedSite) -> None:
    reads: list[list[ModelEvent]] = [read(n, call_id=f"r{n}") for n in range(2, 9)]
    model = Billing(toc("prime"), *reads[:2], CITED)
    answer = await ask(site, model, AnswerCeiling(None, 25_000, {}, REPLY))
    musts = [must for _, _, must in model.asked]
    assert (answer.outcome, answer.text) == ("answered", "With water. [1]")
    assert musts[0] is False
    far = Billing(toc("prime"), *reads, CITED)
    near = await ask(site, far, AnswerCeiling(None, 18_000, {}, REPLY))
    assert far.asked[-1][2] is True, "it may not read on"
    assert len(far.asked) < 2 + len(reads)
    assert near.trace.passages


async def test_where_not_even_the_answer_fits_the_sections_that_were_read_are_shown(site: IndexedSite) -> None:
    class Dear(ScriptedModel):
        """Its second turn counts more than could be reckoned."""

        async def turn(
            self, system: str, turns: Sequence[Turn], tools: Sequence[Tool], *, must_answer: bool = False
        ) -> AsyncIterator[ModelEvent]:
            taken = Usage(17_000 if self.asked else 100)
            async for event in super().turn(system, turns, tools, must_answer=must_answer):
                yield TurnEnd(event.reason, taken, 100) if isinstance(event, TurnEnd) else event

    answer = await ask(site, Dear(toc("prime"), read(2, 3), CITED), AnswerCeiling(None, 18_500, {}, REPLY))
    assert (answer.outcome, answer.text) == ("failed", OVER_CEILING)
    assert answer.trace.passages
    assert answer.nearest == answer.trace.passages
    assert answer.trace.usage.tokens == 17_100


@pytest.mark.parametrize("strategy", FOR_PEOPLE)
@pytest.mark.parametrize("tokens", [1, 100_000])
async def test_every_strategy_ends_under_a_ceiling(site: IndexedSite, strategy: str, tokens: int) -> None:
    model = Billing([TextDelta("NOT_FOUND")])
    answer = await ask(site, model, AnswerCeiling(None, tokens, {}, REPLY), strategy)
    assert (model.billed.tokens == 0) is (tokens == 1)
    assert answer.text == OVER_CEILING or tokens > 1


async def test_a_model_that_fails_fails_the_question_as_without_a_ceiling(site: IndexedSite) -> None:
    answer = await ask(site, Billing(ModelUnreachable("away")), AnswerCeiling(None, 100_000, {}, REPLY))
    assert (answer.outcome, answer.text) == ("failed", "away")
