"""What a running process counts, for Prometheus: GET /metrics, served beside health (deploy.serving.health).

Most numbers come from the log: the events that say what became of a page, a question, a call carry the figures already, so
that a metric is a row of METRICS and no code elsewhere knows of it. They count whatever level is logged. What is a state and
no event (what waits, when a site was looked at) is read when somebody asks. No label holds a page, a person or a text.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Literal

import structlog
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.exposition import choose_encoder
from structlog.typing import EventDict, WrappedLogger

log = structlog.get_logger()

Gauges = Mapping[str, Callable[[], Awaitable[Mapping[str, float]]]]
"""By the name of a metric: reads its values, by the value of its one label."""

ANSWER_SECONDS = (0.5, 1, 2, 5, 10, 20, 30, 60, 120, 180)
"""Borders of the classes of an answer's seconds; answers.timeout is 180 by default."""
TROUBLE = frozenset({"warning", "error", "critical"})


@dataclass(frozen=True, slots=True)
class Metric:
    """`event`: the log event that feeds it, "": it is read when somebody asks; `labels`: fields of the event; `value`: the
    field that is added or sorted into classes, "": events are counted. A field that is None adds nothing."""

    name: str
    kind: Literal["counter", "histogram", "gauge"]
    help: str
    event: str = ""
    labels: tuple[str, ...] = ()
    value: str = ""


READY = "ritbot_ready"
PROBLEMS = "ritbot_problems_total"
EVENTS_WAITING = "ritbot_events_waiting"
DEAD_LETTERS = "ritbot_dead_letters"
SITE_LOOKED_AT = "ritbot_site_looked_at_timestamp_seconds"
SITE_TROUBLE = "ritbot_site_trouble"

METRICS = (
    Metric(READY, "gauge", "1 while everything is open and no part has failed, else 0"),
    Metric(PROBLEMS, "counter", "Events of the log that are warnings or errors", labels=("event", "level")),
    Metric(EVENTS_WAITING, "gauge", "Events that wait to be handled", labels=("topic",)),
    Metric(DEAD_LETTERS, "gauge", "Events that could not be handled, and wait for the operator", labels=("topic",)),
    Metric(SITE_LOOKED_AT, "gauge", "When the site was looked at last, in Unix time", labels=("site",)),
    Metric(SITE_TROUBLE, "gauge", "1 while the site's pages cannot be listed or believed, else 0", labels=("site",)),
    Metric("ritbot_page_events_total", "counter", "Events of pages handled, by what became of the page", "event_handled", ("kind",)),
    Metric("ritbot_embeddings_made_total", "counter", "Texts that were embedded for the index", "event_handled", value="embedded"),
    Metric("ritbot_embeddings_saved_total", "counter", "Chunks whose vector was there already", "event_handled", value="kept"),
    Metric("ritbot_questions_taken_total", "counter", "Questions written down, by how they were asked", "question_taken", ("kind",)),
    Metric("ritbot_questions_total", "counter", "Questions of people that are over, by how they ended", "question_over", ("outcome",)),
    Metric("ritbot_answers_total", "counter", "Answers made, also at the terminal, by outcome", "question_answered", ("outcome", "strategy")),
    Metric("ritbot_answer_seconds", "histogram", "Seconds that an answer took to make", "question_answered", value="seconds"),
    Metric("ritbot_answer_tokens_read_total", "counter", "Tokens that models read for answers", "question_answered", value="tokens_read"),
    Metric("ritbot_answer_tokens_written_total", "counter", "Tokens that models wrote for answers", "question_answered", value="tokens_written"),
    Metric("ritbot_answer_cost_dollars_total", "counter", "What answers cost, where prices are known", "question_answered", value="cost"),
    Metric("ritbot_citations_total", "counter", "Sections that answers cited", "question_answered", value="cited"),
    Metric("ritbot_model_retries_total", "counter", "Turns of a model begun again, by what had failed", "model_retried", ("kind",)),
    Metric("ritbot_feedback_total", "counter", "Verdicts of people on answers", "feedback_given", ("verdict",)),
    Metric("ritbot_stale_notes_total", "counter", "Answers whose sections changed, by what was told in the thread", "note_sent", ("result",)),
    Metric("ritbot_slack_calls_total", "counter", "Calls of Slack's API; ratelimited: status 429", "slack_called", ("method", "result")),
)  # fmt: skip


class Metrics:
    """The numbers of one process. `observe` is a processor of structlog that lets every event pass."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        Info("ritbot_build", "The version of ritbot", registry=self.registry).info({"version": version("ritbot")})
        self._gauges = {each.name: Gauge(*_declared(each), registry=self.registry) for each in _of("gauge")}
        self._counters = {each.name: Counter(*_declared(each), registry=self.registry) for each in _of("counter")}
        self._histograms = {
            each.name: Histogram(*_declared(each), registry=self.registry, buckets=ANSWER_SECONDS)
            for each in _of("histogram")
        }
        self._fed: defaultdict[str, list[Metric]] = defaultdict(list)
        for metric in METRICS:
            self._fed[metric.event].append(metric)

    def observe(self, _: WrappedLogger, level: str, event: EventDict) -> EventDict:
        name = str(event.get("event") or "unnamed")
        for metric in self._fed.get(name, ()):
            value = event.get(metric.value) if metric.value else 1
            if value is None:
                continue
            if metric.kind == "histogram":
                self._histograms[metric.name].observe(value)
            else:
                self._count(metric.name, [str(event.get(label)) for label in metric.labels], value)
        if level in TROUBLE:
            self._count(PROBLEMS, [name, level], 1)
        return event

    def _count(self, name: str, labels: Sequence[str], value: float) -> None:
        counter = self._counters[name]
        (counter.labels(*labels) if labels else counter).inc(value)

    async def page(self, accept: str, gauges: Gauges, *, ready: bool, within: float) -> tuple[bytes, str]:
        """All numbers, in the form that whoever asks `accept`s, and what it is. A gauge that cannot be read `within`
        seconds is left out."""
        read = await asyncio.gather(*(self._read(name, values, within) for name, values in gauges.items()))
        for name, values in zip(gauges, read, strict=True):
            gauge = self._gauges[name]
            gauge.clear()
            for label, value in values.items():
                gauge.labels(label).set(value)
        self._gauges[READY].set(ready)
        encode, kind = choose_encoder(accept)
        return encode(self.registry), kind

    async def _read(
        self, name: str, values: Callable[[], Awaitable[Mapping[str, float]]], within: float
    ) -> Mapping[str, float]:
        try:
            async with asyncio.timeout(within):
                return await values()
        except Exception as error:  # the others are told whatever it finds
            log.warning("metric_not_read", metric=name, reason=repr(error))
            return {}


def _of(kind: str) -> list[Metric]:
    return [metric for metric in METRICS if metric.kind == kind]


def _declared(metric: Metric) -> tuple[str, str, tuple[str, ...]]:
    return metric.name, metric.help, metric.labels


PROCESS = Metrics()
"""Those of this process: the log is one for all that runs in it, and so are they."""
