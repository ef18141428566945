"""`ritbot settings`: every setting, with what it takes, its default and what it is for."""

from __future__ import annotations

from rich.padding import Padding
from rich.text import Text

from deploy.commands.command_line import console
from deploy.settings.root import describe


def command() -> None:
    for row in describe():
        console.print(
            Text.assemble((row.name, "bold"), f" = {row.default}", (f"   ({row.takes})", "dim")), soft_wrap=True
        )
        console.print(Padding(Text(row.help), (0, 0, 1, 4)))
