"""What the pages of answers say, before they are HTML. Pure.

`root` is the way from the page to the address of ritbot. The text of questions and answers is foreign: templates escape it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote

from bot.events import outcome
from bot.freshness import ago
from bot.model import ChangedSource, Exchange
from bot.permalinks.cited_in import citing_answer
from bot.permalinks.permalink import Permalink
from bot.slack.render.trace_modal import DONE, offered
from bot.staleness.told import note_told
from bot.web.forest_tree import Branch, forest_tree
from ingest.counted import counted
from navigator.answer import Answer, CitedSource, Step
from navigator.markdown.blocks import Piece
from navigator.markdown.parse import parse_markdown

CHANGED = {"marked": "other words of the section changed", "stale": "the cited words changed", "gone": "it is gone"}


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One question in a list. `slack`: where it was answered, "" where that is private or nowhere."""

    href: str
    question: str
    outcome: str
    asked: str
    facts: tuple[str, ...]
    slack: str = ""


@dataclass(frozen=True, slots=True)
class SourceView:
    """`href` shows the section as it was read; `changed` what became of it since, "" for nothing."""

    number: int
    path: tuple[str, ...]
    href: str
    quotes: tuple[str, ...]
    changed: str = ""


@dataclass(frozen=True, slots=True)
class StepView:
    """`done`: what was done, as a sentence; `sections` that it read, each with its address."""

    done: str
    seconds: str
    reasoning: str
    error: str
    sections: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class AnswerView:
    row: AnswerRow
    understood: str
    text: tuple[Piece, ...]
    note: str
    sources: tuple[SourceView, ...]
    steps: tuple[StepView, ...]
    forest: Sequence[Branch]
    counts: str
    feedback: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StaleView:
    """An answer of which sources changed: `number`, what became of it, the words before and now, where they stand now."""

    row: AnswerRow
    changes: tuple[tuple[int, str, str, str, str], ...]
    told: str


def answer_row(exchange: Exchange, now: datetime, root: str) -> AnswerRow:
    question, answer = exchange.question, exchange.answer
    verdicts = Counter(each.verdict for each in exchange.feedback)
    facts = [
        f"{question.user or 'someone'} in {question.channel}",
        *([counted(len(answer.sources), "section") + " cited"] if answer and answer.sources else []),
        *([f"{answer.trace.seconds:.1f} s"] if answer else []),
        *([f"${answer.trace.usage.cost:.4f}"] if answer and answer.trace.usage.cost is not None else []),
        *(f"{count} × {verdict}" for verdict, count in sorted(verdicts.items())),
        *(["changed since"] if any(source.stale for source in exchange.changed) else []),
    ]
    return AnswerRow(
        href=f"{root}web/answer?id={quote(question.id, safe='')}",
        question=question.text or "(no words)",
        outcome=(outcome(exchange) or exchange.state).replace("_", " "),
        asked=f"{question.asked_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC, {ago(question.asked_at, now)}",
        facts=tuple(facts),
        slack=citing_answer(exchange).href,
    )


def answer_view(exchange: Exchange, now: datetime, root: str) -> AnswerView:
    answer = exchange.answer
    changed = {source.number: CHANGED[source.state] for source in exchange.changed}
    understood = exchange.standalone if exchange.standalone != exchange.question.text else ""
    return AnswerView(
        row=answer_row(exchange, now, root),
        understood=understood,
        text=parse_markdown(answer.text) if answer else (),
        note=answer.note if answer else "",
        sources=tuple(_source(source, root, changed.get(source.number, "")) for source in answer.sources)
        if answer
        else (),
        steps=tuple(_steps(answer, root)) if answer else (),
        forest=forest_tree(answer) if answer else (),
        counts=_counts(answer) if answer else "",
        feedback=tuple(
            f"{each.user or 'Someone'} found it {each.verdict}{f': {each.reason}' if each.reason else ''}"
            for each in exchange.feedback
        ),
    )


def stale_view(exchange: Exchange, now: datetime, root: str) -> StaleView:
    def change(source: ChangedSource) -> tuple[int, str, str, str, str]:
        return source.number, CHANGED[source.state], source.before, source.after, source.link

    return StaleView(answer_row(exchange, now, root), tuple(map(change, exchange.changed)), note_told(exchange))


def _source(source: CitedSource, root: str, changed: str) -> SourceView:
    first = source.first
    quotes = tuple(dict.fromkeys(citation.quote for citation in source.citations))
    return SourceView(source.number, first.path, _section(root, first.node_id, first.node_hash), quotes, changed)


def _section(root: str, node: str, hash_: str = "") -> str:
    return f"{root}{Permalink(node, hash_).path.lstrip('/')}?show"


def _steps(answer: Answer, root: str) -> Iterator[StepView]:
    passages = {passage.number: passage for passage in answer.trace.passages}
    for step in answer.trace.steps:
        read = [passages[number] for number in dict.fromkeys(step.numbers) if number in passages and not step.error]
        yield StepView(
            done=_done(step, len(read)),
            seconds=f"{step.seconds:.1f} s",
            reasoning=step.reasoning,
            error=step.error or "",
            sections=tuple((" › ".join(each.path), _section(root, each.node_id, each.node_hash)) for each in read),
        )


def _done(step: Step, read: int) -> str:
    if step.tool == "read":
        return f"Read {counted(read, 'section')}"
    done = DONE.get(step.tool, f"Used {step.tool} for")
    looked = f"; {counted(count, 'section')} offered" if (count := offered(step)) else ""
    return f"{done} “{step.query}”{looked}" if step.query else f"{done.removesuffix(' for')}{looked}"


def _counts(answer: Answer) -> str:
    trace, usage = answer.trace, answer.trace.usage
    told = [
        f"{counted(len(trace.shown), 'section')} offered, {len(trace.passages):,} read, {len(answer.sources):,} cited",
        f"{counted(trace.calls, 'step')} in {counted(trace.turns, 'turn')}",
        f"{usage.read_tokens:,} tokens in, {usage.output_tokens:,} out",
        *([f"${usage.cost:.4f}"] if usage.cost is not None else []),
        f"{trace.seconds:.1f} s",
        *filter(None, [answer.strategy, answer.model, answer.trace_id and f"trace id {answer.trace_id}"]),
    ]
    return " · ".join(told)
