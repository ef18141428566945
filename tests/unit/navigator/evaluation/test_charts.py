"""Which pictures a run gives (navigator/evaluation/charts.py, sweeps.py, plots.py)."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from navigator.evaluation.report.charts import Chart, charts, share_scale
from navigator.evaluation.report.figures import MISSING
from navigator.evaluation.report.markup import Markup
from navigator.evaluation.report.plots import HEIGHT, WIDTH, Frame
from navigator.evaluation.report.summary import RunSummary, summarise
from navigator.evaluation.report.sweeps import sweeps
from navigator.evaluation.report.tables import tables
from navigator.evaluation.results import Contender
from tests.unit.navigator.evaluation.made import PAGES, run

RIT, VANILLA, AGENTIC = Contender("rit", "rit"), Contender("vanilla", "vanilla"), Contender("agentic", "agentic")
ORACLE = Contender("oracle", "rit", reader="oracle")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def of_run(
    *contenders: tuple[Contender, float, float | None, float], judged: bool = True, count: int = 60
) -> RunSummary:
    questions, who, results = run(contenders, count, judged=judged)
    return summarise(questions, who, results, outlines=PAGES)


def drawn(chart: Chart) -> ElementTree.Element:
    assert chart.plot is not None
    return ElementTree.fromstring(chart.plot)


def texts(chart: Chart, kind: str) -> list[str]:
    return [each.text or "" for each in drawn(chart).iter("text") if each.get("class") == kind]


def circles(chart: Chart) -> dict[str, tuple[float, float, str]]:
    """Label -> x, y, classes; the label stands in the circle's own title."""
    return {
        (each.findtext("title") or "").partition(": ")[0]: (
            float(each.get("cx", "")),
            float(each.get("cy", "")),
            each.get("class", ""),
        )
        for each in drawn(chart).iter("circle")
    }


def test_accuracy_against_cost_shows_who_is_dearer_and_who_is_better() -> None:
    cost, latency, _ = charts(of_run((RIT, 0.95, 0.02, 1.0), (VANILLA, 0.3, 0.01, 9.0)))
    assert (cost.table.title, latency.table.title) == ("Accuracy against cost", "Accuracy against latency")
    spots = circles(cost)
    assert spots["rit"][0] > spots["vanilla"][0]
    assert spots["rit"][1] < spots["vanilla"][1]
    assert circles(latency)["rit"][0] < circles(latency)["vanilla"][0]
    assert texts(cost, "label") == ["rit", "vanilla"]


def test_the_frontier_is_drawn_and_told() -> None:
    cost, *_ = charts(of_run((RIT, 0.95, 0.02, 1.0), (VANILLA, 0.6, 0.01, 1.0), (AGENTIC, 0.1, 0.03, 1.0)))
    spots = circles(cost)
    assert {label for label, (_, _, kind) in spots.items() if "best" in kind} == {"rit", "vanilla"}
    (line,) = [each for each in drawn(cost).iter("polyline") if each.get("class") == "frontier"]
    numbers = [float(each) for each in NUMBER.findall(line.get("points", ""))]
    assert numbers == pytest.approx([*spots["vanilla"][:2], *spots["rit"][:2]], abs=0.1)
    assert [row[-1] for row in cost.table.rows] == ["yes", "yes", ""]


def test_error_bars_are_wilson_intervals() -> None:
    summary = of_run((RIT, 0.5, 0.02, 1.0))
    share = summary.rows[0].accuracy
    assert share is not None
    cost = charts(summary)[0]
    spot = circles(cost)["rit"]
    bars = [
        each for each in drawn(cost).iter("line") if each.get("class") == "bar" and each.get("x1") == each.get("x2")
    ]
    (top, bottom) = (float(bars[0].get("y1", "")), float(bars[0].get("y2", "")))
    assert top < spot[1] < bottom
    assert (bottom - spot[1]) / (bottom - top) == pytest.approx(
        (share.value - share.low) / (share.high - share.low), abs=0.01
    )


def test_unknown_costs_give_a_table_and_the_reason_instead_of_a_picture() -> None:
    cost, latency, _ = charts(of_run((RIT, 0.9, None, 1.0)))
    assert cost.plot is None
    assert "There is no picture: cost and accuracy are not both known." in cost.table.about
    assert cost.table.rows[0][1] == MISSING
    assert latency.plot is not None


def test_a_contender_whose_cost_is_unknown_is_named_not_dropped_in_silence() -> None:
    cost, *_ = charts(of_run((RIT, 0.9, None, 1.0), (VANILLA, 0.5, 0.1, 1.0)))
    assert list(circles(cost)) == ["vanilla"]
    assert "Not shown, cost unknown: rit." in cost.table.about


def test_scripted_readers_are_hollow_and_never_on_a_frontier() -> None:
    cost, _, reading = charts(of_run((RIT, 0.5, 0.1, 1.0), (ORACLE, 1.0, 0.0, 1.0)))
    assert list(circles(cost)) == ["rit"]
    assert "scripted" in circles(reading)["oracle (scripted)"][2]
    assert "scripted" not in circles(reading)["rit"][2]


def test_where_only_scripted_readers_took_part_there_is_only_what_they_read() -> None:
    summary = of_run((ORACLE, 1.0, 0.0, 1.0))
    (reading,) = charts(summary)
    assert reading.table.title == "Precision against recall of what was read"
    assert "Answers" not in [table.title for table in tables(summary)]


def test_without_a_judge_answers_are_compared_by_token_recall() -> None:
    cost, *_ = charts(of_run((RIT, 0.9, 0.1, 1.0), judged=False))
    assert cost.table.title == "Token recall against cost"
    assert texts(cost, "axis")[-1] == "Token recall"


def test_costs_far_apart_stand_on_a_logarithmic_axis() -> None:
    cost, *_ = charts(of_run((RIT, 0.9, 0.5, 1.0), (VANILLA, 0.5, 0.001, 1.0)))
    assert "US dollars a question, logarithmic" in texts(cost, "axis")


def test_p_against_r_has_the_whole_square_and_curves_of_equal_f1() -> None:
    reading = charts(of_run((RIT, 0.9, 0.1, 1.0)))[2]
    assert texts(reading, "tick").count("100%") == texts(reading, "tick").count("0%") == 2
    assert texts(reading, "guide-name") == ["F1 0.2", "F1 0.4", "F1 0.6", "F1 0.8"]
    curve = next(each for each in drawn(reading).iter("polyline") if each.get("class") == "guide")
    first, *_, last = [tuple(map(float, each.split(","))) for each in curve.get("points", "").split()]
    area = Frame("", "", "", *[share_scale((0.0, 1.0), "")] * 2).area
    assert first == pytest.approx((area.left + area.width * 0.2 / 1.8, area.top), abs=0.1)
    assert last == pytest.approx((area.left + area.width, area.top + area.height * (1 - 0.2 / 1.8)), abs=0.1)
    nothing = charts(summarise([], [RIT], []))[2]
    assert nothing.plot is None
    assert "nothing was read" in nothing.table.about


def sweep(label: str, **setting: int) -> Contender:
    return Contender(label, "rit", **setting)


def test_contenders_that_differ_in_n_alone_make_a_sweep() -> None:
    summary = of_run(
        (sweep("n=50", n=50, k=200), 0.9, 0.1, 1.0),
        (sweep("n=10", n=10, k=40), 0.5, 0.1, 1.0),
        (sweep("n=25", n=25), 0.7, 0.1, 1.0),
        (VANILLA, 0.5, 0.1, 1.0),
    )
    (chart,) = sweeps(summary)
    assert chart.table.title == "rit: what n changes"
    assert [row[0] for row in chart.table.rows] == ["10", "25", "50"]
    assert texts(chart, "tick")[:3] == ["10", "25", "50"]
    assert texts(chart, "label") == ["Accuracy", "P", "R", "F1 of P and R"]


def test_k_and_e_make_sweeps_of_their_own() -> None:
    rdr2 = [Contender(f"E={e}", "rdr2", k=5, expansions=e) for e in range(3)]
    vanilla = [Contender(f"k={k}", "vanilla", k=k) for k in (5, 10)]
    found = sweeps(of_run(*((each, 0.5, 0.1, 1.0) for each in (*rdr2, *vanilla))))
    assert [chart.table.title for chart in found] == ["vanilla: what k changes", "rdr2: what E changes"]


def test_contenders_that_differ_in_more_make_no_sweep() -> None:
    mixed = (
        Contender("a", "rit", n=10),
        Contender("b", "rit", n=20, structure=False),
        Contender("c", "rit", n=30, reader="oracle"),
        Contender("d", "other", n=40),
        Contender("e", "rit", n=50, k=7),
    )
    assert sweeps(of_run(*((each, 0.5, 0.1, 1.0) for each in mixed))) == ()


def test_a_sweep_of_scripted_readers_says_so() -> None:
    readers = [Contender(f"n={n}", "rit", n=n, reader="oracle") for n in (5, 6, 100)]
    (chart,) = sweeps(of_run(*((each, 0.5, 0.1, 1.0) for each in readers), judged=False))
    assert chart.table.title == "rit (scripted): what n changes"
    assert texts(chart, "tick")[:2] == ["5", "100"]


@pytest.mark.parametrize("count", [1, 60])
@pytest.mark.parametrize("accuracy", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("contenders", [1, 12])
def test_pictures_stay_inside_their_frame_whatever_the_figures(contenders: int, accuracy: float, count: int) -> None:
    who = [(sweep(f"a rather long name {i}", n=10 + i), accuracy, 0.01 * (i + 1), 1.0 + i) for i in range(contenders)]
    summary = of_run(*who, count=count)
    made = [chart for chart in (*charts(summary), *sweeps(summary)) if chart.plot is not None]
    assert made
    for chart in made:
        tree = drawn(chart)
        assert "nan" not in str(chart.plot)
        for each in tree.iter():
            for key, end in (
                ("cx", WIDTH),
                ("x1", WIDTH),
                ("x2", WIDTH),
                ("cy", HEIGHT),
                ("y1", HEIGHT),
                ("y2", HEIGHT),
            ):
                assert 0 <= float(each.get(key, "0")) <= end


def test_a_picture_has_a_title_and_a_description_that_it_points_to() -> None:
    summary = of_run((RIT, 0.9, 0.1, 1.0), (sweep("n=1", n=1), 0.9, 0.1, 1.0), (sweep("n=2", n=2), 0.9, 0.1, 1.0))
    ids = []
    for chart in (*charts(summary), *sweeps(summary)):
        tree = drawn(chart)
        assert tree.get("role") == "img"
        named = (tree.get("aria-labelledby") or "").split()
        assert [tree.find(f"*[@id='{each}']") is not None for each in named] == [True, True]
        ids += named
    assert len(set(ids)) == len(ids)


def test_labels_are_escaped() -> None:
    summary = of_run((RIT, 0.9, 0.1, 1.0))
    evil = replace(summary.rows[0], contender=Contender("<script>&", "rit"))
    cost = charts(replace(summary, rows=(evil,)))[0]
    assert isinstance(cost.plot, Markup)
    assert "<script>" not in cost.plot
    assert texts(cost, "label") == ["<script>&"]
