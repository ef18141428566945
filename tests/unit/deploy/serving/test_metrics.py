"""Metrics: fed by events that the code really logs, read when somebody asks, and named alike wherever they are used."""

from __future__ import annotations

import ast
import asyncio
import itertools
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families

from deploy.serving.metrics import METRICS, PROBLEMS, Metric, Metrics

ROOT = Path(__file__).resolve().parents[4]
ALERTS = yaml.safe_load((ROOT / "deploy/prometheus/alerts.yaml").read_text(encoding="utf-8"))
RULES: list[dict[str, Any]] = [rule for group in ALERTS["groups"] for rule in group["rules"]]
DASHBOARD = json.loads((ROOT / "deploy/grafana/ritbot.json").read_text(encoding="utf-8"))
PANELS: list[dict[str, Any]] = DASHBOARD["panels"]
EXPRESSIONS = [rule["expr"] for rule in RULES] + [t["expr"] for panel in PANELS for t in panel.get("targets", ())]
ANYBODYS = {"job", "instance", "le"}
"""Labels that Prometheus gives, and the border of a histogram's class."""
FED = [metric for metric in METRICS if metric.event]


@cache
def logged() -> Mapping[str, list[set[str]]]:
    """By the name of an event: the fields of each call that logs it."""
    found: defaultdict[str, list[set[str]]] = defaultdict(list)
    for path in itertools.chain(*((ROOT / layer).rglob("*.py") for layer in ("ingest", "navigator", "bot", "deploy"))):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(ast.Attribute(ast.Name("log")), [event, *_], keywords):
                    names = [part.value for part in ast.walk(event) if isinstance(part, ast.Constant)]
                    for name in names:
                        found[str(name)].append({each.arg for each in keywords if each.arg})
    return found


def shown(metrics: Metrics, ready: bool = True, **gauges: Any) -> dict[tuple[str, tuple[str, ...]], float]:
    """What /metrics says, by name and values of the labels."""
    page, _ = asyncio.run(metrics.page("", gauges, ready=ready, within=0.1))
    families = text_string_to_metric_families(page.decode())
    return {(s.name, tuple(s.labels.values())): s.value for family in families for s in family.samples}


@pytest.mark.parametrize("metric", FED, ids=lambda metric: metric.name)
def test_every_event_that_feeds_a_metric_is_logged_with_the_fields_that_it_takes(metric: Metric) -> None:
    assert logged()[metric.event]
    wanted = {*metric.labels, *([metric.value] if metric.value else [])}
    assert [fields for fields in logged()[metric.event] if not wanted <= fields] == []


@pytest.mark.parametrize(
    ("level", "event", "says"),
    [
        ("debug", {"event": "event_handled", "kind": "new", "embedded": 3, "kept": 2}, {("ritbot_page_events_total", ("new",)): 1, ("ritbot_embeddings_made_total", ()): 3, ("ritbot_embeddings_saved_total", ()): 2}),
        ("info", {"event": "question_over", "outcome": "refused"}, {("ritbot_questions_total", ("refused",)): 1}),
        ("info", {"event": "question_answered", "outcome": "answered", "strategy": "rit", "seconds": 1.5, "cited": 2, "tokens_read": 70, "tokens_written": 8, "cost": None}, {("ritbot_answers_total", ("answered", "rit")): 1, ("ritbot_answer_seconds_bucket", ("1.0",)): 0, ("ritbot_answer_seconds_bucket", ("2.0",)): 1, ("ritbot_answer_seconds_sum", ()): 1.5, ("ritbot_citations_total", ()): 2, ("ritbot_answer_tokens_read_total", ()): 70, ("ritbot_answer_cost_dollars_total", ()): 0}),
        ("debug", {"event": "slack_called", "method": "chat_update", "result": "ratelimited"}, {("ritbot_slack_calls_total", ("chat_update", "ratelimited")): 1}),
        ("warning", {"event": "store_unavailable", "reason": "https://a.example/ is away"}, {(PROBLEMS, ("store_unavailable", "warning")): 1}),
        ("error", {"event": "note_sent", "result": "unsent"}, {(PROBLEMS, ("note_sent", "error")): 1, ("ritbot_stale_notes_total", ("unsent",)): 1}),
        ("error", {}, {(PROBLEMS, ("unnamed", "error")): 1}),
    ],
)  # fmt: skip
def test_an_event_adds_what_it_says_and_passes_unchanged(
    level: str, event: dict[str, Any], says: Mapping[Any, float]
) -> None:
    metrics = Metrics()
    assert metrics.observe(None, level, dict(event)) == event
    found = shown(metrics)
    assert {key: found[key] for key in says} == says


def test_what_is_no_trouble_and_feeds_nothing_is_not_counted() -> None:
    metrics = Metrics()
    metrics.observe(None, "info", {"event": "page_skipped", "url": "https://a.example/"})
    assert [key for key, value in shown(metrics).items() if key[0].startswith("ritbot_") and value > 1] == []
    assert not [key for key in shown(metrics) if key[0] == PROBLEMS]


def test_a_gauge_is_read_when_somebody_asks_and_what_is_gone_is_told_no_more() -> None:
    waiting = {"docs.pages": 3}
    metrics = Metrics()

    async def read() -> Mapping[str, float]:
        return dict(waiting)

    assert shown(metrics, ritbot_events_waiting=read)[("ritbot_events_waiting", ("docs.pages",))] == 3
    waiting.clear()
    waiting["bot.questions"] = 1
    found = shown(metrics, ready=False, ritbot_events_waiting=read)
    assert {key: value for key, value in found.items() if key[0] in ("ritbot_events_waiting", "ritbot_ready")} == {
        ("ritbot_events_waiting", ("bot.questions",)): 1,
        ("ritbot_ready", ()): 0,
    }


def test_a_gauge_that_cannot_be_read_is_left_out_and_the_others_are_told() -> None:
    async def broken() -> Mapping[str, float]:
        raise ValueError

    async def hangs() -> Mapping[str, float]:
        await asyncio.Event().wait()
        return {}

    async def well() -> Mapping[str, float]:
        return {"guide": True}

    found = shown(Metrics(), ritbot_dead_letters=broken, ritbot_events_waiting=hangs, ritbot_site_trouble=well)
    assert found[("ritbot_site_trouble", ("guide",))] == 1
    assert not [key for key in found if key[0] in ("ritbot_dead_letters", "ritbot_events_waiting")]


def test_whoever_asks_for_openmetrics_gets_that() -> None:
    page, kind = asyncio.run(Metrics().page("application/openmetrics-text;version=1.0.0", {}, ready=True, within=1))
    assert kind.startswith("application/openmetrics-text")
    assert "ritbot_ready" in {family.name for family in openmetrics(page.decode())}


# --- what lies in deploy/ for Prometheus and Grafana, and the manual


def labels_of(name: str) -> set[str] | None:
    """None where there is no such metric."""
    for metric in METRICS:
        if name in (
            [metric.name + end for end in ("_bucket", "_sum", "_count")]
            if metric.kind == "histogram"
            else [metric.name]
        ):
            return {*metric.labels}
    return None  # fmt: skip


def named(expression: str) -> Iterator[tuple[str, set[str]]]:
    """Metrics of ritbot, with the labels that are asked for."""
    for name, matchers in re.findall(r"\b(ritbot_\w+)(?:\{([^}]*)\})?", expression):
        yield name, set(re.findall(r"(\w+)\s*[=!]", matchers))


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_rules_and_panels_ask_for_metrics_and_labels_that_there_are(expression: str) -> None:
    found = list(named(expression))
    known = set().union(*(labels_of(name) or set() for name, _ in found)) | ANYBODYS
    assert found or "up{" in expression or "process_" in expression
    assert [
        name for name, asked in found if labels_of(name) is None or asked - (labels_of(name) or set()) - ANYBODYS
    ] == []
    for by in re.findall(r"\b(?:by|on) \(([^)]*)\)", expression):
        assert {label.strip() for label in by.split(",") if label.strip()} <= known


def test_a_rule_has_a_name_of_its_own_a_severity_and_says_what_to_do() -> None:
    assert len({rule["alert"] for rule in RULES}) == len(RULES)
    assert {rule["labels"]["severity"] for rule in RULES} <= {"warning", "critical"}
    assert [
        rule["alert"] for rule in RULES if not (rule["annotations"]["summary"] and rule["annotations"]["action"])
    ] == []


def test_events_that_rules_and_their_advice_name_are_logged() -> None:
    events = {event for rule in RULES for event in re.findall(r'event="(\w+)"', rule["expr"])}
    advised = {word for rule in RULES for word in re.findall(r"\b[a-z]+_[a-z_]+\b", rule["annotations"]["action"])}
    assert len(events) == 1
    assert len(advised) == 7
    assert {name for name in events | advised if name not in logged() and labels_of(name) is None} == set()


def test_the_dashboard_draws_every_metric() -> None:
    drawn = {name for panel in PANELS for target in panel.get("targets", ()) for name, _ in named(target["expr"])}
    histogram = {"ritbot_answer_seconds_bucket", "ritbot_answer_seconds_count"}
    assert drawn == {metric.name for metric in METRICS if metric.kind != "histogram"} | histogram


def test_the_panels_of_the_dashboard_lie_side_by_side() -> None:
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)
    taken: set[tuple[int, int]] = set()
    for panel in PANELS:
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert taken.isdisjoint(cells)
        assert place["x"] + place["w"] <= 24, "columns of Grafana"
        taken |= cells
    assert {panel["datasource"]["uid"] for panel in PANELS if panel["type"] != "row"} == {"${datasource}"}


def test_the_manual_lists_every_metric_with_its_type_and_labels_and_every_alert() -> None:
    page = (ROOT / "deploy/manual/metrics.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(ritbot_\w+)` \| (\w+) \|([^|]*)\| [^|]+ \|$", page, re.MULTILINE)
    listed = [(name, kind, tuple(re.findall(r"`(\w+)`", labels))) for name, kind, labels in rows]
    there = [(metric.name, metric.kind, metric.labels) for metric in METRICS]
    assert listed == [("ritbot_build_info", "gauge", ("version",)), *there]
    assert re.findall(r"^\| `(Ritbot\w+)` \|", page, re.MULTILINE) == [rule["alert"] for rule in RULES]
    assert (ROOT / "deploy/prometheus/scrape.yaml").read_text(encoding="utf-8").partition("\n\n")[2] in page
