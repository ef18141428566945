"""The bar that shows how far work on many pages has come."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn


def page_bar(console: Console, what: str = "pages") -> Progress:
    """Tasks have a field `detail`, which stands behind the number of pages, or `what` else is counted."""
    return Progress(
        SpinnerColumn(),
        TextColumn("[bold]{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn(f"{what} · {{task.fields[detail]}} ·"),
        TimeRemainingColumn(),
        console=console,
    )
