"""`ritbot settings [NAME]`: the names of all settings, a table a paragraph; of those that NAME names, or of all with --all,
what each takes, its default and what it is for; with NAME also the value in force and where it comes from."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated

import typer
from rich.padding import Padding
from rich.text import Text

from deploy.commands.command_line import Config, console, fail, settings_of
from deploy.settings.messages import did_you_mean
from deploy.settings.root import Described, describe, in_force, places


def command(
    name: Annotated[
        str | None, typer.Argument(help="A setting (model.name), a table (model), or part of a name.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All settings with defaults and help.")] = False,
    config: Config = None,
) -> None:
    found = [row for row in describe() if name is None or named(row.name, name)]
    if name is not None and not found:
        fail(f"There is no setting called {name}{did_you_mean(name, (row.name for row in describe()))}")
    holds = partial(in_force, settings_of(config), places(config)) if name is not None else None
    tables: dict[str, list[Described]] = {}
    for row in found:
        tables.setdefault(row.name.rpartition(".")[0], []).append(row)
    for table, rows in tables.items():
        console.print(Text(f"[[{table[:-2]}]]" if table.endswith("[]") else f"[{table}]", style="bold underline"))
        if name is None and not everything:
            names = Text("  ").join(Text(row.name.removeprefix(f"{table}."), no_wrap=True) for row in rows)
            console.print(Padding(names, (0, 0, 0, 2)))
            continue
        for row in rows:
            show(row, row.name.removeprefix(f"{table}."), holds)
        console.print()
    if name is None and not everything:
        console.print("\nritbot settings NAME explains a setting or a table, --all explains all.", soft_wrap=True)


def named(setting: str, name: str) -> bool:
    """A table's name names what is in it; what is no whole name is looked for in all."""
    plain = setting.replace("[]", "")
    return name == plain or plain.startswith(f"{name}.") or name in plain.rpartition(".")[2]


def show(row: Described, name: str, holds: Callable[[str], tuple[str, str]] | None) -> None:
    """`holds`: the value in force and its origin, where they are to be told."""
    console.print(
        Text.assemble((f"  {name}", "bold"), f" = {row.default}", (f"   ({row.takes})", "dim")), soft_wrap=True
    )
    if holds is not None:
        value, origin = holds(row.name)
        console.print(Text(f"      in force: {value}   (from {origin})", style="green"), soft_wrap=True)
    console.print(Padding(Text(row.help), (0, 0, 0, 6)))
