"""What a check found, and how it is shown."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text


@dataclass(frozen=True, slots=True)
class Finding:
    """`ok` None: worth knowing, no fault. `advice`: what to do."""

    ok: bool | None
    what: str
    advice: str = ""


async def show(findings: AsyncIterator[Finding], console: Console) -> int:
    """Print the findings as they come; how many are faults."""
    faults = 0
    async for finding in findings:
        faults += finding.ok is False
        sign, style = {True: ("✓", "green"), False: ("✗", "bold red"), None: ("·", "dim")}[finding.ok]
        console.print(Text.assemble((f"{sign} ", style), finding.what))
        if finding.advice:
            console.print(Text(f"  → {finding.advice}", style="yellow"))
    return faults
