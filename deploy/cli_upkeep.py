"""Commands of an operator: what keeps an installation healthy and brings it to another version or model."""

from __future__ import annotations

import typer

app = typer.Typer()
