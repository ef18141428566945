"""What several commands show: the bar of work on many pages, how an interrupted one ends, the findings of a check."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Column
from rich.text import Text

INTERRUPTED = 130
"""The exit status after Ctrl-C."""
AGAIN = "Run the same command again and it goes on."


SECONDS_BETWEEN_LINES = 60.0
"""Of progress, where the output is no terminal."""


MIN_WIDTH_WITH_BAR = 100
"""Columns of a terminal."""


class Bar(Progress):
    """A bar on a terminal; elsewhere (a log, a pipe) a line now and then, so that a long run is seen to move."""

    _told: float | None = None

    def update(self, task_id: TaskID, **fields: Any) -> None:
        super().update(task_id, **fields)
        task, now = self._tasks[task_id], self.get_time()
        self._told = now if self._told is None else self._told
        if self.console.is_terminal or task.finished or now - self._told < SECONDS_BETWEEN_LINES:
            return
        self._told = now
        left = f" · {task.time_remaining / 60:.0f} min left" if task.time_remaining is not None else ""
        count = f"{task.completed:.0f}/{task.total:.0f}" if task.total else f"{task.completed:.0f}"
        say(self.console, f"{task.description}: {count} · {task.fields['detail']}{left}")


def page_bar(console: Console, what: str = "pages") -> Bar:
    """Tasks have a field `detail`, which stands behind the number of pages, or `what` else is counted. Where the terminal
    is narrow there is no bar, and what is told takes several lines."""
    bar = [BarColumn(bar_width=24)] if console.width >= MIN_WIDTH_WITH_BAR else []
    return Bar(
        SpinnerColumn(),
        TextColumn("{task.description}", style="bold", markup=False, table_column=Column(overflow="fold")),
        *bar,
        MofNCompleteColumn(table_column=Column(no_wrap=True)),
        TextColumn(f"{what} · {{task.fields[detail]}} ·", markup=False, table_column=Column(overflow="fold")),
        TimeRemainingColumn(),
        console=console,
    )


def say(console: Console, line: str, style: str = "") -> None:
    console.print(Text(line, style=style), soft_wrap=True)


def tell_interrupted(console: Console) -> int:
    """The exit status of a command that Ctrl-C ended and that can be run again."""
    say(console, f"Interrupted; nothing is lost. {AGAIN}", "yellow")
    return INTERRUPTED


@dataclass(frozen=True, slots=True)
class Finding:
    """`ok` None: worth knowing, no fault; `unwell`, not in order either. `advice`: what to do."""

    ok: bool | None
    what: str
    advice: str = ""
    unwell: bool = False


async def show_findings(findings: AsyncIterator[Finding], console: Console) -> int:
    """Print the findings as they come; how many are faults."""
    faults = 0
    async for finding in findings:
        faults += finding.ok is False
        sign, style = {True: ("✓", "green"), False: ("✗", "bold red"), None: ("·", "dim")}[finding.ok]
        console.print(Text.assemble((f"{sign} ", style), finding.what))
        if finding.advice:
            console.print(Text(f"  → {finding.advice}", style="yellow"))
    return faults
