"""`ritbot settings`: every setting by table, with what it takes, its default and what it is for."""

from __future__ import annotations

from rich.padding import Padding
from rich.text import Text

from deploy.commands.command_line import console
from deploy.settings.root import Described, describe


def command() -> None:
    tables: dict[str, list[Described]] = {}
    for row in describe():
        tables.setdefault(row.name.rpartition(".")[0], []).append(row)
    for table, rows in tables.items():
        console.print(Text(f"[[{table[:-2]}]]" if table.endswith("[]") else f"[{table}]", style="bold underline"))
        for row in rows:
            name = row.name.removeprefix(f"{table}.")
            console.print(
                Text.assemble((f"  {name}", "bold"), f" = {row.default}", (f"   ({row.takes})", "dim")), soft_wrap=True
            )
            console.print(Padding(Text(row.help), (0, 0, 0, 6)))
        console.print()
