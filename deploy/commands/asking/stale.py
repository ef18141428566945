"""`ritbot stale`: answers that rest on words which have changed since, what became of the words, and whether it was told."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from bot.model import ChangedSource, Exchange
from bot.staleness.told import note_told
from bot.terminal.console import print_json
from deploy.commands.asking.answers import AnswerFilter, asked_since, print_row, printable_line
from deploy.commands.command_line import AsJson, Config, Folder, console, fail, no_index, run, settings_of
from deploy.settings.root import Settings
from deploy.wiring.bot_store import open_bot_store
from ingest.counted import counted

STATES = {"marked": "other words changed", "stale": "changed", "gone": "gone"}
MAX_WORDS_CHARACTERS = 200


def command(
    since: Annotated[str | None, typer.Option(help="Asked since: a date, or how long ago (12h, 7d).")] = None,
    channel: Annotated[str | None, typer.Option(help="Asked in the channel of this id.")] = None,
    marked: Annotated[
        bool, typer.Option("--marked", help="Also those whose quoted words stand, in a section that changed.")
    ] = False,
    as_json: AsJson = False,
    config: Config = None,
    folder: Folder = None,
) -> None:
    settings = settings_of(config, folder)
    if no_index(settings):
        fail(f"There is no data folder at {settings.index.folder}, so no answer either.", 3)
    try:
        wanted = AnswerFilter(asked_since(since, datetime.now(UTC)) if since else None, channel)
    except ValueError as error:
        fail(str(error))
    raise typer.Exit(run(list_stale(settings, wanted, console, marked=marked, as_json=as_json)))


async def list_stale(
    settings: Settings, wanted: AnswerFilter, console: Console, *, marked: bool = False, as_json: bool = False
) -> int:
    """A row an answer, oldest first, and under it what changed. 0, also where there is none."""
    rows: list[dict[str, object]] = []
    count = 0
    async for exchange in _stale(settings, wanted, marked=marked):
        count += 1
        if as_json:
            rows.append(_fields(exchange))
        else:
            print_row(console, exchange)
            for source in exchange.changed:
                _print_change(console, source)
            console.print(Text(f"  {printable_line(note_told(exchange))}", style="dim"), soft_wrap=True)
    if as_json:
        print_json(rows)
    elif count:
        console.print(f"{counted(count, 'answer')} of which sections have changed since.")
    else:
        console.print("Every answer stands as it was given.")
    return 0


async def _stale(settings: Settings, wanted: AnswerFilter, *, marked: bool) -> AsyncIterator[Exchange]:
    async with open_bot_store(settings) as store:
        async for exchange in wanted.of(store):
            if any(source.stale or marked for source in exchange.changed):
                yield exchange


def _print_change(console: Console, source: ChangedSource) -> None:
    console.print(Text(f"  [{source.number}] {STATES[source.state]}, {source.at.astimezone(UTC):%Y-%m-%d %H:%M}"))
    for label, words in (("before", source.before), ("now", source.after)):
        if words:
            shown = printable_line(words)
            cut = shown if len(shown) <= MAX_WORDS_CHARACTERS else f"{shown[: MAX_WORDS_CHARACTERS - 1]}…"
            console.print(Text(f"      {label}: {cut}"), soft_wrap=True)
    if source.link:
        console.print(Text(f"      {source.link}", style="blue"), soft_wrap=True)


def _fields(exchange: Exchange) -> dict[str, object]:
    question, note, answer = exchange.question, exchange.note, exchange.answer
    paths = {source.number: source.first.path for source in answer.sources} if answer else {}
    return {
        "question": question.id,
        "channel": question.channel,
        "thread": question.thread,
        "asked_at": question.asked_at.isoformat(),
        "text": question.text,
        "changed": [
            {
                "source": source.number,
                "path": list(paths.get(source.number, ())),
                "state": source.state,
                "nodes": list(source.nodes),
                "before": source.before,
                "after": source.after,
                "link": source.link,
                "at": source.at.isoformat(),
            }
            for source in exchange.changed
        ],
        "note": note.ts if note else "",
        "note_due_at": note.due_at.isoformat() if note and note.due_at else None,
        "not_told": note.unsent if note else "",
    }
