"""`ritbot gaps`: what people ask and the documentation does not answer, listed, exported, and taken care of."""

from __future__ import annotations

import csv
import io
import sys
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from bot.gaps.gap import GapState
from bot.gaps.grouping import change_gap
from bot.gaps.report import MAX_QUESTIONS_SHOWN, GapReport, gap_reports, state_line, week_line
from bot.terminal.console import print_json
from deploy.commands.asking.answers import MAX_ROW_CHARACTERS, printable_line
from deploy.commands.command_line import AsJson, Config, Folder, console, fail, no_index, run, settings_of
from deploy.settings.root import Settings
from deploy.wiring.bot_store import gap_owners, open_bot_store, open_gaps
from ingest.counted import counted


def command(
    gap_id: Annotated[str | None, typer.Argument(metavar="[ID]", help="One gap, with all its questions.")] = None,
    state: Annotated[
        GapState | None, typer.Option(help="With ID: set its state. Alone: list those in this state.")
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="With --state fixed: the change that did it, as people know it.")
    ] = None,
    owner: Annotated[str | None, typer.Option(help="List those of this owner.")] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="A row a gap, for a spreadsheet.")] = False,
    as_json: AsJson = False,
    config: Config = None,
    folder: Folder = None,
) -> None:
    settings = settings_of(config, folder)
    if no_index(settings):
        fail(f"There is no data folder at {settings.index.folder}, so no gap either.", 3)
    if by and (state != "fixed" or not gap_id):
        fail("--by says which change closed a gap: ritbot gaps ID --state fixed --by CHANGE")
    now = datetime.now(UTC)
    if gap_id and state:
        raise typer.Exit(run(set_state(settings, gap_id, state, by or "", console, now)))
    if gap_id:
        raise typer.Exit(run(show_gap(settings, gap_id, console, now, as_json=as_json)))
    shape = "csv" if as_csv else "json" if as_json else "text"
    raise typer.Exit(run(list_gaps(settings, console, now, state=state, owner=owner, shape=shape)))


async def list_gaps(
    settings: Settings,
    console: Console,
    now: datetime,
    *,
    state: GapState | None = None,
    owner: str | None = None,
    shape: str = "text",
) -> int:
    """The open ones first, of those the most asked; 0, also where there is none."""
    async with open_bot_store(settings) as store, open_gaps(settings) as gaps:
        found = await gap_reports(store, gaps, gap_owners(settings))
        waiting = len(await store.asked_in_vain(""))
    rows = [
        report
        for report in found
        if state in (None, report.gap.state) and (owner is None or (report.owner and report.owner.name == owner))
    ]
    if shape == "json":
        print_json([_fields(report, now) for report in rows])
    elif shape == "csv":
        _write_csv(rows, now)
    else:
        for report in rows:
            _print_row(console, report, now)
        what = f"{counted(len(rows), 'gap')}, {counted(sum(report.count for report in rows), 'question')}."
        console.print(what if rows else "There is no gap, or none that you asked for.")
        if waiting:
            console.print(f"{counted(waiting, 'question')} not grouped yet: ritbot serve or ritbot answer does that.")
    return 0


async def show_gap(settings: Settings, gap_id: str, console: Console, now: datetime, *, as_json: bool) -> int:
    """Everything of one; 1 where there is none of that id."""
    async with open_bot_store(settings) as store, open_gaps(settings) as gaps:
        found = await gap_reports(store, gaps, gap_owners(settings), only=gap_id, examples=MAX_QUESTIONS_SHOWN)
    if not found:
        console.print(f"There is no gap {gap_id}. Its id stands in the list: ritbot gaps", soft_wrap=True)
        return 1
    (report,) = found
    if as_json:
        print_json(_fields(report, now))
        return 0
    _print_row(console, replace(report, examples=()), now)
    for example in report.examples:
        console.print(Text(f"  “{printable_line(example)}”"), soft_wrap=True)
    if report.private:
        console.print(Text(f"  and {counted(report.private, 'question')} asked in private", style="dim"))
    if report.gap.pin and report.gap.pin.link:
        console.print(Text(f"  {report.gap.pin.link}", style="blue"), soft_wrap=True)
    return 0


async def set_state(settings: Settings, gap_id: str, state: GapState, by: str, console: Console, now: datetime) -> int:
    """1 where there is no gap of that id."""
    async with open_gaps(settings) as gaps:
        gap = await change_gap(gaps, gap_id, lambda gap: gap.put(state, now, by))
    if gap is None:
        console.print(f"There is no gap {gap_id}. Its id stands in the list: ritbot gaps", soft_wrap=True)
        return 1
    console.print(Text(f"{gap_id}: {state_line(gap)}"), soft_wrap=True)
    return 0


def _print_row(console: Console, report: GapReport, now: datetime) -> None:
    gap = report.gap
    head = Text.assemble((printable_line(report.where), "bold"), (f"  {gap.id}", "dim"))
    console.print(head, soft_wrap=True)
    for example in report.examples:
        shown = printable_line(example)
        cut = shown if len(shown) <= MAX_ROW_CHARACTERS else f"{shown[: MAX_ROW_CHARACTERS - 1]}…"
        console.print(Text(f"  “{cut}”"), soft_wrap=True)
    owner = report.owner.name if report.owner else "nobody's"
    facts = [counted(report.count, "question"), week_line(report, now), owner, state_line(gap)]
    console.print(Text(f"  {printable_line(' · '.join(facts))}", style="dim"), soft_wrap=True)


def _fields(report: GapReport, now: datetime) -> dict[str, object]:
    gap, again = report.gap, report.gap.asked_again
    return {
        "id": gap.id,
        "state": gap.state,
        "fixed_by": gap.fixed_by,
        "path": list(gap.pin.path) if gap.pin else [],
        "link": gap.pin.link if gap.pin else "",
        "owner": report.owner.name if report.owner else "",
        "count": report.count,
        "weeks": list(report.trend(now)),
        "first_asked": report.times[0].isoformat(),
        "last_asked": report.times[-1].isoformat(),
        "questions": list(report.examples),
        "asked_again_at": again.at.isoformat() if again else None,
        "asked_again": again.asked if again else 0,
        "answered_now": again.answered if again else 0,
    }


def _write_csv(rows: list[GapReport], now: datetime) -> None:
    """What a spreadsheet would take for a formula gets an apostrophe in front (OWASP, CSV injection)."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(
        ("id", "state", "fixed by", "where", "link", "owner", "questions", "this week", "last asked", "examples")
    )
    for report in rows:
        fields = _fields(report, now)
        cells = (
            *(fields[name] for name in ("id", "state", "fixed_by")),
            report.where,
            *(fields[name] for name in ("link", "owner", "count")),
            report.trend(now)[-1],
            fields["last_asked"],
            "\n".join(report.examples),
        )
        writer.writerow(
            [f"'{cell}" if str(cell).startswith(("=", "+", "-", "@", "\t", "\r")) else cell for cell in cells]
        )
    sys.stdout.write(out.getvalue())
