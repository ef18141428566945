"""`ritbot settings`: every setting by table, with what it takes, its default and what it is for."""

from __future__ import annotations

from itertools import groupby

from rich.padding import Padding
from rich.text import Text

from deploy.commands.command_line import console
from deploy.settings.root import Described, describe


def command() -> None:
    rows = sorted(describe(), key=_table)  # stable: a table's settings stay in their order, its sub-tables follow it
    for table, settings in groupby(rows, key=_table):
        console.print(Text(f"[[{table[:-2]}]]" if table.endswith("[]") else f"[{table}]", style="bold underline"))
        for row in settings:
            name = row.name.removeprefix(f"{table}.")
            console.print(
                Text.assemble((f"  {name}", "bold"), f" = {row.default}", (f"   ({row.takes})", "dim")), soft_wrap=True
            )
            console.print(Padding(Text(row.help), (0, 0, 0, 6)))
        console.print()


def _table(row: Described) -> str:
    return row.name.rpartition(".")[0]
