"""The figures of a router, worked by hand."""

import pytest

from navigator.answer import Usage
from navigator.errors import ModelUnreachable
from navigator.evaluation.routing.score import RoutingFigures, routing_figures, score_router
from navigator.ports import ModelEvent, TextDelta, TurnEnd
from navigator.strategies.rdr2.actions import Routed
from tests.fakes.model import ScriptedModel
from tests.unit.navigator.strategies.test_rdr2_examples import EXAMPLE

REF = Routed(refused=True, lines=1)


def test_blocks_are_counted_over_all_examples_together() -> None:
    # 2 of 3 selected are right, 2 of 5 wanted are found: P 2/3, R 2/5, F1 0.5
    pairs = [(Routed((1, 2, 3), lines=3), Routed((1, 2, 7, 8))), (Routed(lines=0, collapsed=True), Routed((5,)))]
    assert routing_figures(pairs).ans_f1 == pytest.approx(0.5)


def test_a_heading_counts_where_one_was_unfolded() -> None:
    pairs = [(Routed(expand=4), Routed(expand=4)), (Routed(expand=4), Routed((1,))), (REF, Routed(expand=9))]
    assert routing_figures(pairs).exp_precision == pytest.approx(1 / 2)


def test_refusing_is_right_where_the_example_does_and_only_there() -> None:
    pairs = [(REF, REF), (REF, Routed((1,))), (Routed((1,)), REF), (Routed((1,)), Routed(expand=2))]
    assert routing_figures(pairs).ref_accuracy == pytest.approx(2 / 4)


def test_expelled_is_a_mean_over_replies_and_collapsed_a_share_of_them() -> None:
    collapsed = Routed(invalid_lines=("no action: x",), lines=1, collapsed=True)
    pairs = [
        (Routed((1,), invalid_lines=("a", "b", "c"), lines=4), Routed((1,))),
        (collapsed, REF),
        (Routed(collapsed=True), REF),
    ]
    found = routing_figures([*pairs, (REF, REF)])
    assert found.expelled == pytest.approx((3 / 4 + 1 + 0 + 0) / 4)
    assert found.collapsed == pytest.approx(2 / 4)


def test_nothing_compared_has_no_figures() -> None:
    assert routing_figures([]) == RoutingFigures(None, None, None, None, None)


def said(text: str) -> list[ModelEvent]:
    return [TextDelta(text), TurnEnd("end", Usage(90, 10, cost=0.01))]


async def test_each_prompt_is_put_to_the_router_and_its_reply_compared() -> None:
    replies = ["[ANS] 3: Fill the\n[EXP] 8: Care", "[ANS] 4: Open the\n[ANS] 99: x", "[REF]", "Fill the pump."]
    model, told = ScriptedModel(*map(said, replies)), list[int]()
    score = await score_router(model, [EXAMPLE] * 4, workers=1, show=lambda p: told.append(p.done))
    # selected 3, 4 against 3 in each of four: one right of 2 selected and 4 wanted
    assert score.figures.ans_f1 == pytest.approx(2 * 1 / (2 + 4))
    assert score.figures.exp_precision == 1.0
    assert score.figures.ref_accuracy == pytest.approx(3 / 4)
    assert score.figures.expelled == pytest.approx((0 + 1 / 2 + 0 + 1) / 4)
    assert score.figures.collapsed == pytest.approx(1 / 4)
    assert (score.model, score.asked, score.usage) == ("scripted", 4, Usage(360, 40, cost=0.04))
    assert told == [1, 2, 3, 4]
    system, (turn,), _ = model.asked[0]
    assert (system, getattr(turn, "text", "")) == (EXAMPLE.system, EXAMPLE.prompt)


async def test_a_fault_is_counted_and_the_rest_is_asked() -> None:
    model = ScriptedModel(ModelUnreachable("gone"), said("[REF]"))
    score = await score_router(model, [EXAMPLE] * 3, workers=1)
    assert (score.asked, score.failed, score.reason, score.ended) == (2, 1, "gone", "")
