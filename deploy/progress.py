"""The bar that shows how far work on many pages has come."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn


def page_bar(console: Console) -> Progress:
    """Tasks have a field `detail`, which stands behind the number of pages."""
    return Progress(
        SpinnerColumn(),
        TextColumn("[bold]{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("pages · {task.fields[detail]} ·"),
        TimeRemainingColumn(),
        console=console,
    )
