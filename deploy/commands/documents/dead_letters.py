"""`ritbot dead-letters`: what could not be handled, and sending it back to be handled again."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from bot.freshness import ago
from bot.terminal.console import print_json
from deploy.commands.command_line import AsJson, Config, Folder, console, fail, needs_index, run, settings_of
from deploy.settings.root import Settings
from deploy.wiring.events import GROUPS, open_events
from ingest.counted import counted, verb
from ingest.events.dead_letters import KeptLetter, dead_letters, send_again, settle


def command(
    replay: Annotated[
        str | None,
        typer.Option(help="Send back those of this page (or other key), or all that wait.", metavar="KEY|all"),
    ] = None,
    drop: Annotated[bool, typer.Option("--drop", help="Let all that wait be.")] = False,
    as_json: AsJson = False,
    config: Config = None,
    folder: Folder = None,
) -> None:
    settings = settings_of(config, folder)
    needs_index(settings)
    if drop and replay is not None:
        fail("Either --replay or --drop.")
    if drop or replay is not None:
        raise typer.Exit(run(act(settings, console, replay=replay)))
    raise typer.Exit(run(list_letters(settings, console, as_json=as_json)))


async def list_letters(settings: Settings, console: Console, *, as_json: bool) -> int:
    """All that are kept, oldest first, each with the reason. Raises IngestError."""
    async with open_events(settings) as events:
        found = [kept for topic in GROUPS async for kept in dead_letters(events, topic)]
    found.sort(key=lambda kept: kept.since)
    if as_json:
        print_json([_fields(kept) for kept in found])
        return 0
    for kept in found:
        _show(kept, console)
    waiting = sum(kept.waits for kept in found)
    console.print(
        f"{counted(waiting, 'dead letter')} {verb(waiting, 'waits', 'wait')}, {len(found) - waiting:,} settled."
        if found
        else "No dead letters."
    )
    if waiting:
        console.print("Send them back: ritbot dead-letters --replay all. Let them be: ritbot dead-letters --drop.")
    return 0


async def act(settings: Settings, console: Console, *, replay: str | None) -> int:
    """Send back those of a key, or all that wait; None: let all that wait be. 1 where there is none of that key.
    Raises IngestError."""
    async with open_events(settings) as events:
        if replay is None or replay == "all":
            count = sum([await settle(events, topic, again=replay is not None) for topic in GROUPS])
            console.print(f"{counted(count, 'dead letter')} {'sent back' if replay else 'let be'}.")
            return 0
        count = sum([await send_again(events, topic, replay) for topic in GROUPS])
    console.print(
        f"{counted(count, 'dead letter')} of {replay} sent back." if count else f"There are none of {replay}."
    )
    return 0 if count else 1


def _fields(kept: KeptLetter) -> dict[str, object]:
    record = kept.letter.record
    return {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "key": record.key,
        "reason": kept.letter.reason,
        "sent_at": record.timestamp.isoformat(),
        "given_up_at": kept.since.isoformat(),
        "waits": kept.waits,
    }


def _show(kept: KeptLetter, console: Console) -> None:
    record = kept.letter.record
    where = f"{record.topic}, partition {record.partition}, offset {record.offset}"
    settled = "" if kept.waits else ", settled"
    console.print(Text(record.key, style="bold" if kept.waits else "dim"), soft_wrap=True)
    console.print(Text(f"  {kept.letter.reason}"), soft_wrap=True)
    console.print(
        Text(f"  given up {ago(kept.since, datetime.now(UTC))}{settled}; {where}", style="dim"), soft_wrap=True
    )
