"""Which charts a run gives, and how they are drawn (navigator/evaluation/report/charts.py, plots.py)."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text
from matplotlib.transforms import Bbox

from navigator.evaluation.report.charts import Chart, Point, Scatter, Sweep, charts
from navigator.evaluation.report.formats import MISSING
from navigator.evaluation.report.plots import MAX_LABEL_CHARACTERS, draw, svg
from navigator.evaluation.report.summary import RunSummary, summarise
from navigator.evaluation.report.tables import tables
from navigator.evaluation.results import Contender
from tests.unit.navigator.evaluation.made import PAGES, run

RIT, VANILLA, AGENTIC = Contender("rit", "rit"), Contender("vanilla", "vanilla"), Contender("agentic", "agentic")
ORACLE = Contender("oracle", "rit", reader="oracle")
SVG = "{http://www.w3.org/2000/svg}"


def of_run(
    *contenders: tuple[Contender, float, float | None, float], judged: bool = True, count: int = 60
) -> RunSummary:
    questions, who, results = run(contenders, count, judged=judged)
    return summarise(questions, who, results, outlines=PAGES)


def points(chart: Chart) -> dict[str, Point]:
    assert isinstance(chart.plot, Scatter)
    return {point.label: point for point in chart.plot.points}


def sweeps(summary: RunSummary) -> list[Chart]:
    return [chart for chart in charts(summary) if isinstance(chart.plot, Sweep)]


def texts(plot: Scatter | Sweep) -> list[str]:
    return ["".join(each.itertext()).strip() for each in ElementTree.fromstring(svg(plot, "a")).iter(f"{SVG}text")]


def labels(figure: Figure) -> list[Annotation]:
    """Those of points: what says the F1 of a curve has no line."""
    return [each for each in figure.axes[0].texts if isinstance(each, Annotation) and each.arrow_patch]


def boxes(figure: Figure) -> list[Bbox]:
    figure.draw_without_rendering()
    return [Text.get_window_extent(label) for label in labels(figure)]


def test_accuracy_against_cost_shows_who_is_dearer_and_who_is_better() -> None:
    cost, latency, _ = charts(of_run((RIT, 0.95, 0.02, 1.0), (VANILLA, 0.3, 0.01, 9.0)))
    assert (cost.table.title, latency.table.title) == ("Accuracy against cost", "Accuracy against latency")
    assert points(cost)["rit"].x > points(cost)["vanilla"].x
    assert points(cost)["rit"].y > points(cost)["vanilla"].y
    assert points(latency)["rit"].x < points(latency)["vanilla"].x
    assert cost.plot is not None
    assert {"rit", "vanilla", "US dollars a question", "Accuracy"} <= set(texts(cost.plot))


def test_the_frontier_is_marked_and_told() -> None:
    cost, *_ = charts(of_run((RIT, 0.95, 0.02, 1.0), (VANILLA, 0.6, 0.01, 1.0), (AGENTIC, 0.1, 0.03, 1.0)))
    assert [label for label, point in points(cost).items() if point.best] == ["rit", "vanilla"]
    assert [row[-1] for row in cost.table.rows] == ["yes", "yes", ""]
    assert isinstance(cost.plot, Scatter)
    dashed = [line for line in draw(cost.plot).axes[0].lines if line.is_dashed()]
    (frontier,) = [list(map(tuple, line.get_xydata())) for line in dashed]
    assert frontier == [(points(cost)[name].x, points(cost)[name].y) for name in ("vanilla", "rit")]


def test_error_bars_are_wilson_intervals() -> None:
    summary = of_run((RIT, 0.5, 0.02, 1.0))
    share = summary.rows[0].accuracy
    assert share is not None
    cost = charts(summary)[0]
    assert (points(cost)["rit"].low, points(cost)["rit"].high) == (share.low, share.high)
    assert cost.plot is not None
    (bar,) = [segment for drawn in draw(cost.plot).axes[0].collections for segment in drawn.get_segments()]
    assert [y for _, y in bar] == pytest.approx([share.low, share.high])


def test_unknown_costs_give_a_table_and_the_reason_instead_of_a_picture() -> None:
    cost, latency, _ = charts(of_run((RIT, 0.9, None, 1.0)))
    assert cost.plot is None
    assert "There is no picture: cost and accuracy are not both known." in cost.table.about
    assert cost.table.rows[0][1] == MISSING
    assert latency.plot is not None


def test_a_contender_whose_cost_is_unknown_is_named_not_dropped_in_silence() -> None:
    cost, *_ = charts(of_run((RIT, 0.9, None, 1.0), (VANILLA, 0.5, 0.1, 1.0)))
    assert list(points(cost)) == ["vanilla"]
    assert "Not shown, cost unknown: rit." in cost.table.about


def test_scripted_readers_are_hollow_and_never_on_a_frontier() -> None:
    cost, _, reading = charts(of_run((RIT, 0.5, 0.1, 1.0), (ORACLE, 1.0, 0.0, 1.0)))
    assert list(points(cost)) == ["rit"]
    assert {label: point.scripted for label, point in points(reading).items()} == {
        "rit": False,
        "oracle (scripted)": True,
    }
    assert reading.plot is not None
    markers = [line for line in draw(reading.plot).axes[0].lines if line.get_marker() == "o"]
    assert [line.get_markerfacecolor() == "#ffffff" for line in markers] == [False, True]


def test_where_only_scripted_readers_took_part_there_is_only_what_they_read() -> None:
    summary = of_run((ORACLE, 1.0, 0.0, 1.0))
    (reading,) = charts(summary)
    assert reading.table.title == "Precision against recall of what was read"
    assert "Answers" not in [table.title for table in tables(summary)]


def test_without_a_judge_answers_are_compared_by_token_recall() -> None:
    cost, *_ = charts(of_run((RIT, 0.9, 0.1, 1.0), judged=False))
    assert cost.table.title == "Token recall against cost"
    assert cost.plot is not None
    assert cost.plot.y_title == "Token recall"


def test_costs_far_apart_stand_on_a_logarithmic_axis() -> None:
    far = charts(of_run((RIT, 0.9, 0.5, 1.0), (VANILLA, 0.5, 0.001, 1.0)))[0].plot
    near = charts(of_run((RIT, 0.9, 0.5, 1.0), (VANILLA, 0.5, 0.1, 1.0)))[0].plot
    assert far is not None
    assert near is not None
    assert "US dollars a question, logarithmic" in texts(far)
    assert {"0.001", "0.01", "0.1"} <= set(texts(far))
    assert "US dollars a question" in texts(near)
    assert draw(near).axes[0].get_xlim()[0] == 0


@pytest.mark.parametrize(
    ("shares", "ends"),
    [([0.72, 0.88], (0.7, 0.9)), ([0.5], (0.4, 0.6)), ([0.0], (0.0, 0.1)), ([1.0], (0.9, 1.0)), ([0.0, 1.0], (0.0, 1.0))],
)  # fmt: skip
def test_shares_stand_between_whole_tenths_within_nothing_and_everything(
    shares: list[float], ends: tuple[float, float]
) -> None:
    plot = Scatter("Seconds", "Accuracy", tuple(Point(f"c{y}", 1.0, y) for y in shares))
    low, high = draw(plot).axes[0].get_ylim()
    assert (low + 0.02, high - 0.02) == pytest.approx(ends)


def sweep(label: str, **other: int | None) -> Contender:
    return Contender(label, "rit", **other)  # type: ignore[arg-type]


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
    assert isinstance(chart.plot, Sweep)
    assert [title for title, _ in chart.plot.lines] == ["Accuracy", "P", "R", "F1 of P and R"]
    assert {"10", "25", "50", "Accuracy", "P", "R", "F1 of P and R"} <= set(texts(chart.plot))


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
    assert sweeps(of_run(*((each, 0.5, 0.1, 1.0) for each in mixed))) == []


def test_a_sweep_of_scripted_readers_says_so_and_its_ticks_do_not_collide() -> None:
    readers = [Contender(f"n={n}", "rit", n=n, reader="oracle") for n in (5, 6, 100)]
    (chart,) = sweeps(of_run(*((each, 0.5, 0.1, 1.0) for each in readers), judged=False))
    assert chart.table.title == "rit (scripted): what n changes"
    assert chart.plot is not None
    assert list(draw(chart.plot).axes[0].get_xticks()) == [5, 100]


@pytest.mark.parametrize(("accuracy", "count"), [(0.0, 1), (0.5, 60), (1.0, 1)])
@pytest.mark.parametrize("contenders", [1, 12])
def test_pictures_stay_inside_their_frame_whatever_the_figures(contenders: int, accuracy: float, count: int) -> None:
    who = [(sweep(f"a rather long name {i}", n=10 + i), accuracy, 0.01 * (i + 1), 1.0 + i) for i in range(contenders)]
    made = [chart.plot for chart in charts(of_run(*who, count=count)) if chart.plot]
    assert made
    for plot in made:
        assert "nan" not in svg(plot, "a")
        figure = draw(plot)
        (axes,) = figure.axes
        shown = plot.points if isinstance(plot, Scatter) else [point for _, line in plot.lines for point in line]
        assert all(axes.bbox.contains(*axes.transData.transform((point.x, point.y))) for point in shown)
        assert all(figure.bbox.containsx(x) for box in boxes(figure) for x in (box.x0, box.x1))


def test_labels_keep_off_one_another_and_off_the_points() -> None:
    twelve = Scatter("Seconds", "Accuracy", tuple(Point(f"contender {i}", 1.0, 0.5, 0.4, 0.6) for i in range(12)))
    scattered = Scatter("Seconds", "Accuracy", tuple(Point(f"number {i}", i % 5, 0.1 * i) for i in range(10)))
    for plot in (twelve, scattered):
        figure = draw(plot)
        placed = boxes(figure)
        assert len(placed) == len(plot.points)
        assert [box.count_overlaps(placed) for box in placed] == [1] * len(placed)  # itself
        spots = [figure.axes[0].transData.transform((point.x, point.y)) for point in plot.points]
        assert not [box for box in placed for x, y in spots if box.contains(x, y)]


def test_a_label_stands_right_of_its_point_without_a_line_unless_something_is_there() -> None:
    figure = draw(Scatter("Seconds", "Accuracy", (Point("alone", 1.0, 0.5), Point("beside", 1.02, 0.5))))
    alone, beside = labels(figure)
    assert alone.get_horizontalalignment() == "right"
    assert beside.get_horizontalalignment() == "left"
    assert [label.arrow_patch is not None and label.arrow_patch.get_visible() for label in (alone, beside)] == [
        False
    ] * 2


def test_labels_are_words_and_nothing_else_whatever_they_hold() -> None:
    evil = "<script>&\x00\ud800 $x^2$ \\frac 文書"
    plot = Scatter("Seconds", "Accuracy", (Point(evil, 1.0, 0.5), Point("x" * 200, 2.0, 0.5)))
    text = svg(plot, "a")
    assert "<script>" not in text
    assert {"<script>&\ufffd\ufffd $x^2$ \\frac 文書", "x" * (MAX_LABEL_CHARACTERS - 1) + "…"} <= set(texts(plot))


def test_a_contender_s_name_is_the_label_of_its_point() -> None:
    summary = of_run((RIT, 0.9, 0.1, 1.0))
    named = replace(summary, rows=(replace(summary.rows[0], contender=Contender("a & b", "none")),))
    assert list(points(charts(named)[0])) == ["a & b (no documentation)"]


def test_a_picture_is_the_same_on_every_drawing_and_its_ids_are_its_own() -> None:
    plot = Scatter("Seconds", "Accuracy", (Point("a", 1.0, 0.5), Point("b", 2.0, 0.6)))
    assert svg(plot, "first") == svg(plot, "first")
    first, second = (set(re.findall(r'\bid="([^"]+)"', svg(plot, chart))) for chart in ("first", "second"))
    assert first
    assert not first & second
