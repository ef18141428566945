"""An answer in the terminal: text with numbered marks, one row a cited section, and on request how it was found.

Marks and rows are links where the terminal knows links; the section's address is always spelled out, and where it cannot
be clicked the address of the cited words is.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import datetime

from rich.console import Console
from rich.padding import Padding
from rich.style import Style
from rich.text import Text

from bot.freshness import ago
from bot.terminal.markdown import AnswerMarkdown
from ingest.counted import counted
from navigator.answer import Answer, Citation, Passage, Step, Usage
from navigator.citations.links import gate_of

_NUMBERED = re.compile(r"^\s*(\d+): ")


def print_answer(
    console: Console, answer: Answer, now: datetime, *, brief: bool = False, changed: Collection[int] = ()
) -> None:
    """How the question was understood, text, sources, nearest sections, remarks; `brief`: the text and a line a source.
    `changed`: numbers of the sources that are not as they were read."""
    if answer.understood:
        console.print()
        console.print(Text(f"Understood as: {answer.understood}", style="dim"))
    text = AnswerMarkdown(gate_of(answer).passed(answer.text), colours=console.color_system is not None)
    if brief:
        console.print(text, crop=False)
        for source in answer.sources:
            _print_link(console, source.first, f"[{source.number}] ")
        return
    console.print()
    console.print(text, crop=False)
    if answer.unsupported:
        console.print()
        console.print(Text("Not supported by any section that was read:", style="yellow"))
        for claim in answer.unsupported:
            console.print(Padding(Text(claim, style="dim"), (0, 0, 0, 2)))
    if answer.sources:
        console.print()
        _print_sources(console, answer, now, changed)
    if answer.nearest:
        console.print()
        _print_nearest(console, answer)
    remarks = [
        f"Version {answer.version}." if answer.version else "",
        answer.note,
        f"Trace id {answer.trace_id}." if answer.outcome == "failed" else "",
    ]
    if any(remarks):
        console.print()
        console.print(Text(" ".join(r for r in remarks if r), style="dim"))
    console.print()


def _print_sources(console: Console, answer: Answer, now: datetime, changed: Collection[int]) -> None:
    """One row a cited section. Addresses stay on one line, so that they can be copied."""
    console.print(Text("Sources", style="bold"))
    for source in answer.sources:
        first = source.first
        console.print(Text.assemble((f"[{source.number}] ", "bold"), " › ".join(first.path)))
        _print_link(console, first)
        since = " · changed since" if source.number in changed else ""
        console.print(Text(f"    checked {ago(first.checked_at, now)}{since}", style="dim"))


def _print_nearest(console: Console, answer: Answer) -> None:
    console.print(Text("The nearest sections", style="bold"))
    for passage in answer.nearest:
        console.print(Text(f"  · {' › '.join(passage.path)}"))
        _print_link(console, passage)


def _print_link(console: Console, place: Citation | Passage, before: str = "    ") -> None:
    """One line, however long, so that it can be copied."""
    words = place.link
    shown = place.node_link if console.is_terminal and isinstance(place, Citation) else words
    console.print(Text(before).append(shown, style=Style(color="blue", link=words)), soft_wrap=True)


def print_trace(console: Console, answer: Answer) -> None:
    """How it was found: queries, the forests as the model saw them (marked ○ read, ● cited), reads, cost."""
    trace = answer.trace
    read = {passage.number for passage in trace.passages}
    cited_ids = {source.first.node_id for source in answer.sources}
    cited = {passage.number for passage in trace.passages if passage.node_id in cited_ids}
    console.print(Text("How I found this", style="bold"))
    for position, step in enumerate(trace.steps, start=1):
        _print_step(console, position, step, read, cited, {p.number: p for p in trace.passages})
    usage = trace.usage
    parts = [
        f"{trace.calls} tool calls in {trace.turns} turns",
        f"{counted(len(trace.passages), 'section')} read, {len(answer.sources)} cited",
        f"{usage.read_tokens} tokens in{_cached(usage)}, {usage.output_tokens} out",
        f"${usage.cost:.4f}" if usage.cost is not None else "no cost known",
        f"{trace.seconds:.1f} s",
        f"{answer.strategy}, {answer.model}",
        f"trace id {answer.trace_id}",
    ]
    console.print(Text(" · ".join(parts), style="dim"))
    console.print()


def _cached(usage: Usage) -> str:
    """What of it came from the prompt cache, and what was written there for the next turn."""
    ways = ((usage.cache_read_tokens, "read from the cache"), (usage.cache_write_tokens, "written to it"))
    told = ", ".join(f"{tokens} {how}" for tokens, how in ways if tokens)
    return f" ({told})" if told else ""


def _print_step(
    console: Console, position: int, step: Step, read: set[int], cited: set[int], passages: dict[int, Passage]
) -> None:
    if step.reasoning:
        console.print(Padding(Text(step.reasoning, style="italic dim"), (0, 0, 0, 3)))
    what = f"{step.tool} {repr(step.query) if step.query else ', '.join(map(str, step.numbers))}"
    console.print(Text(f"{position:2} {what}  ({step.seconds:.2f} s)", style="bold"))
    if step.error:
        console.print(Padding(Text(step.error, style="red"), (0, 0, 0, 3)))
    if step.shown:
        for line in step.shown.split("\n"):
            console.print(_marked(line, read, cited), soft_wrap=True)
    for number in step.numbers:
        if number in passages and not step.error:
            console.print(Padding(Text(f"{number}: {' › '.join(passages[number].path)}"), (0, 0, 0, 3)))


def _marked(line: str, read: set[int], cited: set[int]) -> Text:
    match = _NUMBERED.match(line)
    number = int(match.group(1)) if match else None
    if number in cited:
        return Text(f" ● {line}", style="green")
    if number in read:
        return Text(f" ○ {line}")
    return Text(f"   {line}", style="dim")
